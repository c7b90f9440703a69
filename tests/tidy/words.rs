//! Words that must not be where they are.

use super::code::{line_of, tokens, without_comments, without_tests};
use super::layers::{floor_of_path, words};

/// Parts of names that mean one of the stores' programs.
const STORES: [&str; 6] = ["redis", "mongo", "mongodb", "sqlite", "rusqlite", "sql"];
/// The floor of the stores, which may name them.
const STORE_FLOOR: u8 = 2;
/// The composition root knows concrete types.
const COMPOSITION: &str = "src/app/";
/// Names that only one folder may say, and why.
const FENCES: [(&str, &str, &str); 1] =
    [("actix_web_actors", "src/studio/", "deprecated upstream; it is to leave with one folder")];
/// Files that may hold unsafe code, each use with its reason. None yet.
const UNSAFE_ALLOWED: [&str; 0] = [];
/// Marks of work that is put off. Spelt in pieces, or this file would be its own first violation.
const MARKS: [&str; 4] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
/// Tests that are switched off, in Rust and in JavaScript, or that switch the others off.
const SWITCHED_OFF: [&str; 7] = [
    concat!("#[", "ignore"),
    concat!("test", ".skip("),
    concat!("test", ".todo("),
    concat!("test", ".only("),
    concat!("it", ".skip("),
    concat!("describe", ".skip("),
    concat!("skip", ": true"),
];

/// Where an ignored test is no test: it is the body of a process that the tests beside it start and kill.
const PROCESS_BODIES: [&str; 1] = ["tests/it/contract/kill.rs"];

/// A module without a head. Only attributes of the whole file may stand before it.
pub fn headless(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().find(|line| !line.starts_with("#!["));
    let has_head = first.is_some_and(|line| line.starts_with("//!"));
    if has_head { Vec::new() } else { vec![format!("{path}:1: does not begin with its head, //!")] }
}

/// Names of stores above the stores' floor, outside of tests. In strings too: a rule that spells a store's address knows the store.
pub fn named_stores(path: &str, text: &str) -> Vec<String> {
    let above = floor_of_path(path).is_none_or(|floor| floor > STORE_FLOOR);
    if !above || path.starts_with(COMPOSITION) {
        return Vec::new();
    }
    let (code, kept) = (without_comments(text), without_tests(&tokens(text)));
    let found = words(&code).filter(|(at, word)| {
        // A name in a test has been blanked; one in a string shows as blanks too, but its line still has code.
        let in_test = line(&kept, *at).trim().is_empty();
        !in_test && parts(word).iter().any(|part| STORES.contains(&part.as_str()))
    });
    found
        .map(|(at, word)| format!("{path}:{}: {word}: names a store above the stores' floor", line_of(&code, at)))
        .collect()
}

/// Fenced names outside of their folder.
pub fn outside_fences(path: &str, text: &str) -> Vec<String> {
    let code = tokens(text);
    let found = words(&code).filter_map(|(at, word)| {
        let (name, folder, why) = FENCES.iter().find(|(name, folder, _)| *name == word && !path.starts_with(folder))?;
        Some(format!("{path}:{}: {name} belongs to {folder}: {why}", line_of(&code, at)))
    });
    found.collect()
}

/// Unsafe code where none is allowed.
pub fn unsafe_code(path: &str, text: &str) -> Vec<String> {
    let code = tokens(text);
    let found = words(&code).filter(|(_, word)| *word == "unsafe" && !UNSAFE_ALLOWED.contains(&path));
    found
        .map(|(at, _)| format!("{path}:{}: unsafe code outside of the modules that may have it", line_of(&code, at)))
        .collect()
}

/// Work that is put off, and tests that are switched off.
pub fn put_off(path: &str, text: &str) -> Vec<String> {
    let marks = words(text).filter(|(_, word)| MARKS.contains(word));
    let marks = marks
        .map(|(at, word)| format!("{path}:{}: {word}: do it, or write it up where work is kept", line_of(text, at)));
    let off = SWITCHED_OFF.iter().filter(|_| !PROCESS_BODIES.contains(&path)).flat_map(|mark| text.match_indices(mark));
    marks
        .chain(off.map(|(at, mark)| format!("{path}:{}: {mark}: a test that is switched off", line_of(text, at))))
        .collect()
}

/// The line around a byte.
fn line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    &text[start..text[start..].find('\n').map_or(text.len(), |end| start + end)]
}

/// The parts of a name, in lower case: `RedisHot` and `redis_hot` are `redis` and `hot`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower_before = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && lower_before) {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    parts
}

/// Scenario: a store is named in a rule. Method: plant it as a path, inside a type's name, and in a string.
#[test]
fn planted_stores_are_found_and_lookalikes_are_not() {
    for text in ["use redis::Client;", "let a: SqliteStore;", "fn mongo_url() {}", "let a = \"redis://x\";", "MongoDB"]
    {
        assert_eq!(named_stores("src/room/a.rs", text).len(), 1, "{text}");
        assert_eq!(named_stores("src/store/a.rs", text), Vec::<String>::new(), "{text}");
        assert_eq!(named_stores("src/app/build.rs", text), Vec::<String>::new(), "{text}");
    }
    let harmless = "// redis\nfn redistribute() {}\n#[cfg(test)]\nmod tests {\n    use rusqlite::Row;\n}";
    assert_eq!(named_stores("src/room/a.rs", harmless), Vec::<String>::new());
}

/// Scenario: a fence has a hole. Method: plant what it keeps in.
#[test]
fn planted_fenced_names_are_found() {
    let text = "// unsafe\n#![deny(unsafe_code)]\nuse actix_web_actors::ws;\nfn f() { unsafe {} }";
    let told = outside_fences("src/relay/a.rs", text);
    assert_eq!(
        told,
        [
            "src/relay/a.rs:3: actix_web_actors belongs to src/studio/: deprecated upstream; it is to leave with one folder"
        ]
    );
    assert_eq!(outside_fences("src/studio/a.rs", text), Vec::<String>::new());
    assert_eq!(unsafe_code("src/relay/a.rs", text).len(), 1);
}

/// Scenario: work is put off unseen. Method: plant each mark, and a word that only holds one.
#[test]
fn planted_marks_are_found() {
    for mark in MARKS {
        assert_eq!(put_off("a.md", &format!("a\n{mark}: later")).len(), 1);
        assert_eq!(put_off("a.md", &format!("a{mark}b")), Vec::<String>::new());
    }
    for mark in SWITCHED_OFF {
        assert_eq!(put_off("a.js", mark).len(), 1, "{mark}");
    }
}

/// Scenario: a file has only a plain comment at its top. Method: both forms.
#[test]
fn a_plain_comment_is_no_head() {
    assert_eq!(headless("src/a.rs", "// Purpose.\n").len(), 1);
    assert_eq!(headless("src/a.rs", "").len(), 1);
    for head in ["//! Purpose.\n", "#![allow(missing_docs)]\n//! Purpose.\n"] {
        assert_eq!(headless("src/a.rs", head), Vec::<String>::new());
    }
}
