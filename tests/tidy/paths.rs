//! Traces of one machine: absolute paths of somebody's folders, hosts of package registries and mirrors, resolved addresses
//! in lock files. A file with one of them works where it was written and nowhere else, or tells where that was.
//!
//! Spelt in pieces, or this file would be its own first violation.

use super::code::line_of;

/// Beginnings of folders that belong to people and machines, never to a project.
const FOLDERS: [&str; 6] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("/work", "space/"),
    concat!("C:\\Us", "ers\\"),
];
/// Labels of host names that package registries and their mirrors have.
const REGISTRY_LABELS: [&str; 9] =
    ["registry", "artifactory", "nexus", "mirror", "mirrors", "pypi", "npmjs", "proxy", "jfrog"];
/// The one registry that is named on purpose: by Cargo in its lock file, and in what may be depended on.
const CRATES: &str = concat!("https://github.com/rust-lang/", "crates.io-index");

/// Everything of the kind in one file.
pub fn violations(path: &str, text: &str) -> Vec<String> {
    let mut found = folders(text);
    found.extend(hosts(text));
    match path.rsplit('/').next() {
        Some("package-lock.json") => found.extend(resolved(text)),
        Some("Cargo.lock") => found.extend(foreign_sources(text)),
        Some(".npmrc") => found.extend(chosen(text)),
        _ => {}
    }
    found.into_iter().map(|(at, what)| format!("{path}:{}: {what}", line_of(text, at))).collect()
}

fn folders(text: &str) -> Vec<(usize, &'static str)> {
    let starts = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/}:".contains(c));
    let found = FOLDERS.iter().flat_map(|folder| text.match_indices(folder));
    found.filter(|(at, _)| starts(*at)).map(|(at, _)| (at, "a folder of one machine")).collect()
}

fn hosts(text: &str) -> Vec<(usize, &'static str)> {
    let found = text.match_indices("://").filter(|(at, _)| {
        let host =
            text[at + 3..].split(|c: char| !(c.is_alphanumeric() || ".-@".contains(c))).next().unwrap_or_default();
        host.split(['.', '-', '@']).any(|label| REGISTRY_LABELS.contains(&label))
    });
    found.map(|(at, _)| (at, "the host of a package registry")).collect()
}

/// npm writes where it got a package from; without it any registry will do.
fn resolved(text: &str) -> Vec<(usize, &'static str)> {
    text.match_indices("\"resolved\"").map(|(at, _)| (at, "where one machine got a package from")).collect()
}

/// A setting of npm's that chooses a registry, for everything or for a scope.
fn chosen(text: &str) -> Vec<(usize, &'static str)> {
    let settings = text.match_indices("registry").filter(|(at, name)| {
        let key = text[..*at].rsplit('\n').next().unwrap_or_default();
        (key.is_empty() || key.ends_with(':')) && text[at + name.len()..].trim_start().starts_with('=')
    });
    settings.map(|(at, _)| (at, "chooses a registry")).collect()
}

fn foreign_sources(text: &str) -> Vec<(usize, &'static str)> {
    let sources = text.match_indices("\nsource = \"");
    let foreign = sources.filter(|(at, line)| !text[at + line.len()..].starts_with(&format!("registry+{CRATES}\"")));
    foreign.map(|(at, _)| (at + 1, "a package that is not from crates.io")).collect()
}

/// Scenario: the rule sees nothing. Method: plant one of each, in the files in which they come.
#[test]
fn planted_traces_are_found() {
    for (path, text) in [
        ("README.md", concat!("run it in /ho", "me/ann/heartline")),
        ("tests/run", concat!("cd \"/ro", "ot/x\"")),
        ("Dockerfile", concat!("RUN npm config set a http:/", "/registry.example/npm")),
        ("tests/browser/package-lock.json", "{\n\"resolved\": 1}"),
        ("Cargo.lock", "[[package]]\nname = \"a\"\nsource = \"git+https://example.com/a\"\n"),
        (".npmrc", "fund=false\nregistry = x"),
    ] {
        assert_eq!(violations(path, text).len(), 1, "{path}: {text}");
    }
}

/// Scenario: the rule cries wolf. Method: addresses and paths that are the same everywhere.
#[test]
fn what_is_the_same_everywhere_is_not_found() {
    let lock = format!("[[package]]\nsource = \"registry+{CRATES}\"\n");
    assert_eq!(violations("Cargo.lock", &lock), Vec::<String>::new());
    assert_eq!(violations(".npmrc", "omit-lockfile-registry-resolved=true\n"), Vec::<String>::new());
    for text in [
        "https://github.com/x/registry",
        "http://127.0.0.1:8080/watch/",
        "target/wo",
        "/usr/bin/env",
        "$HOME/x",
        "a/home/b",
    ] {
        assert_eq!(violations("README.md", text), Vec::<String>::new(), "{text}");
    }
}
