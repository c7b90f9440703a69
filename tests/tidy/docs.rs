//! What is written about the code must not fall behind it: every flag, bound, metric and close code has its place, every link its target.
//!
//! Names are taken from the sources by the form in which they stand there. A form that finds nothing fails: the code has moved.

use super::code::is_name;
use super::tree::File;

/// A source, what stands right before each name in it, and where such a name has to be written.
struct Told {
    source: &'static str,
    before: &'static str,
    document: &'static str,
    /// The name as people read it.
    as_written: fn(&str) -> String,
}

const TOLD: [Told; 7] = [
    Told { source: "src/config/flags.rs", before: "    pub ", document: "README.md", as_written: flag },
    Told { source: "src/config/server.rs", before: "key: \"", document: "docs/limits.md", as_written: quoted },
    Told { source: "src/config/rooms.rs", before: "key: \"", document: "docs/limits.md", as_written: quoted },
    Told { source: "src/config/sockets.rs", before: "key: \"", document: "docs/limits.md", as_written: quoted },
    Told { source: "src/config/rates.rs", before: "key: \"", document: "docs/limits.md", as_written: quoted },
    Told { source: "src/protocol/close.rs", before: " = ", document: "docs/protocol.md", as_written: row },
    Told { source: "src/app/metrics.rs", before: "s(\"", document: "docs/metrics.md", as_written: metric },
];

/// Names that are in the code and not in what is written about it.
pub fn untold(files: &[File]) -> Vec<String> {
    TOLD.iter().flat_map(|told| untold_of(told, files)).collect()
}

fn untold_of(told: &Told, files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (Some(source), Some(document)) = (text(told.source), text(told.document)) else {
        return vec![format!("{}: is not there, nor anything about it in {}", told.source, told.document)];
    };
    let names = names(source, told.before);
    if names.is_empty() {
        return vec![format!("{}: no name after {:?}: it has another form now", told.source, told.before)];
    }
    let missing =
        names.into_iter().map(|name| (told.as_written)(&name)).filter(|name| !document.contains(name.as_str()));
    missing.map(|name| format!("{}: does not say {name}, which is in {}", told.document, told.source)).collect()
}

/// A quotation mark at the end of `before` may be on the next line: long calls are broken after their parenthesis.
fn names(source: &str, before: &str) -> Vec<String> {
    let (before, quote) = before.strip_suffix('"').map_or((before, ""), |before| (before, "\""));
    let found = source.match_indices(before).filter_map(|(at, _)| {
        let rest = &source[at + before.len()..];
        let rest = if quote.is_empty() { rest } else { rest.trim_start().strip_prefix(quote)? };
        Some(rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())].to_owned())
    });
    // Functions and types begin with the same word as fields do.
    found.filter(|name| !name.is_empty() && !["fn", "enum", "struct"].contains(&name.as_str())).collect()
}

fn flag(name: &str) -> String {
    format!("`--{}", name.replace('_', "-"))
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

fn row(code: &str) -> String {
    format!("| {code} |")
}

fn metric(name: &str) -> String {
    format!("`heartline_{name}")
}

/// Variables of the server's environment that a file sets and that are none: the server would be started without what they meant.
pub fn unknown_settings(path: &str, text: &str, flags: &str) -> Vec<String> {
    const PREFIX: &str = "HEARTLINE_";
    let known = names(flags, "    pub ");
    let set = text.match_indices(PREFIX).map(|(at, _)| {
        let rest = &text[at + PREFIX.len()..];
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    });
    let unknown = set.filter(|name| !known.contains(&name.to_lowercase()));
    unknown.map(|name| format!("{path}: the server knows no {PREFIX}{name}")).collect()
}

/// Links of a document to files that are not there.
pub fn dead_links(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = text.match_indices("](").map(|(at, open)| {
        let rest = &text[at + open.len()..];
        &rest[..rest.find([')', '#']).unwrap_or(rest.len())]
    });
    let dead = links.filter(|link| !link.is_empty() && !link.contains("://") && !exists(&resolve(folder, link)));
    dead.map(|link| format!("{path}: the link {link} leads nowhere")).collect()
}

fn resolve(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

/// Scenario: a new bound, flag, code or metric comes in without a word. Method: plant one of each, and a source that has moved.
#[test]
fn planted_names_that_are_not_told_are_found() {
    for (source, text, document, missing) in [
        (
            "src/config/flags.rs",
            "    pub tick_ms: Option<u64>,\n    pub new_one: X,\n    pub fn or()",
            "README.md",
            "`--new-one",
        ),
        (
            "src/config/rooms.rs",
            "Bound { key: \"tick_ms\" }, Bound { key: \"new_one\" }",
            "docs/limits.md",
            "`new_one`",
        ),
        ("src/protocol/close.rs", "A = 4000,\nB = 4999,", "docs/protocol.md", "| 4999 |"),
        (
            "src/app/metrics.rs",
            "metrics.counters(\"ticks\", m.gauges(\n    \"new_one\",",
            "docs/metrics.md",
            "`heartline_new_one",
        ),
    ] {
        let told = TOLD.iter().find(|told| told.source == source).unwrap();
        let written = file(document, "`--tick-ms` `tick_ms` | 4000 | `heartline_ticks_total`");
        let found = untold_of(told, &[file(source, text), written]);
        assert!(found.len() == 1 && found[0].contains(missing), "{source}: {found:?}");
        assert!(untold_of(told, &[file(source, "")]).len() == 1, "{source}");
    }
}

/// Scenario: a document is moved, and nobody follows its links. Method: links up, down and out of the tree.
#[test]
fn planted_dead_links_are_found() {
    let exists = |path: &str| ["README.md", "docs/a.md"].contains(&path);
    let text = "[a](../README.md#x) [b](a.md) [c](#here) [d](https://example.com) [e](b.md)";
    assert_eq!(dead_links("docs/c.md", text, exists), ["docs/c.md: the link b.md leads nowhere"]);
}

/// Scenario: a flag is renamed, and the image goes on setting the old one. Method: one that there is, and one that there is not.
#[test]
fn planted_settings_that_are_none_are_found() {
    let flags = "    pub tick_ms: Option<u64>,\n    pub jwt_secret: Option<String>,\n";
    let text = "A: ${HEARTLINE_JWT_SECRET:?needed}\nHEARTLINE_TICK_MS: 5\nENV HEARTLINE_TICKS=5";
    assert_eq!(unknown_settings("a.yml", text, flags), ["a.yml: the server knows no HEARTLINE_TICKS"]);
}
