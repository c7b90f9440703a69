//! Floors: a room imports only from lower floors, never sideways and never up (`ARCHITECTURE.md`, "The house").
//!
//! Sees `crate::…` and `heartline::…` paths in any place, groups included, and chains of `super` that reach the crate's root.
//! `protocol` is the vocabulary: its neighbours on the ground floor may use it. Inside `store` the two stores may know each
//! other's contracts, and never each other's implementations.

use super::code::{is_name, line_of, tokens};

/// Rooms by floor. A new folder under `src/` is put here first, and so has a place before it has a line.
const FLOORS: [(u8, &[&str]); 8] = [
    (1, &["protocol", "wire", "config", "telemetry", "clock"]),
    (2, &["store", "timeline", "auth", "limits"]),
    (3, &["room", "flush", "reconcile", "session"]),
    (4, &["likes", "activity", "comments"]),
    (5, &["acts"]),
    (6, &["api", "relay", "studio"]),
    (7, &["app"]),
    (8, &["main", "cli"]),
];

/// What every room may speak in.
const VOCABULARY: &str = "protocol";

/// Imports of a file that break the rule.
pub fn violations(path: &str, text: &str) -> Vec<String> {
    let Some(room) = room_of(path) else { return Vec::new() };
    let Some(floor) = floor_of(room) else {
        return vec![format!("{path}:1: the room {room} has no floor; give it one in tests/tidy/layers.rs")];
    };
    let code = tokens(text);
    let found = imports(path, &code).into_iter().filter_map(|(at, import)| {
        let why = refusal(path, room, floor, &import)?;
        Some(format!("{path}:{}: {}: {why}", line_of(&code, at), import.join("::")))
    });
    found.collect()
}

/// The floor that a path's room stands on; `None` for the crate's root.
pub fn floor_of_path(path: &str) -> Option<u8> {
    room_of(path).and_then(floor_of)
}

fn room_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix("src/")?.split('/').next()?;
    let room = name.strip_suffix(".rs").unwrap_or(name);
    (room != "lib").then_some(room)
}

fn floor_of(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, rooms)| rooms.contains(&room)).map(|(floor, _)| *floor)
}

fn refusal(path: &str, room: &str, floor: u8, import: &[String]) -> Option<String> {
    let to = import.first()?;
    if to == room {
        return store_refusal(path, import);
    }
    let to_floor = floor_of(to)?;
    // `main` shares its floor with the subcommands that it starts.
    let allowed = to_floor < floor || (floor == to_floor && (to == VOCABULARY || room == "main"));
    (!allowed).then(|| format!("{room} stands on floor {floor}, {to} on floor {to_floor}"))
}

/// Of the other store only what its contract names: `contract`, or a type of its front door.
fn store_refusal(path: &str, import: &[String]) -> Option<String> {
    let mine = path.strip_prefix("src/store/")?.split('/').next()?;
    let theirs = import.get(1).filter(|store| matches!(store.as_str(), "hot" | "durable") && *store != mine)?;
    if !matches!(mine, "hot" | "durable") {
        return None;
    }
    let what = import.get(2)?;
    let contract = what == "contract" || what.starts_with(char::is_uppercase);
    (!contract).then(|| format!("of store::{theirs} the other store may know its contract only"))
}

/// Every path from the crate's root: where it stands, and its segments after the root.
fn imports(path: &str, code: &str) -> Vec<(usize, Vec<String>)> {
    let depth = depth_of(path);
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let rest = &code[at + word.len()..];
        let from_root = match word {
            "crate" | "heartline" => rest.strip_prefix("::"),
            "super" if !code[..at].ends_with("super::") => above(rest, depth),
            _ => None,
        };
        if let Some(rest) = from_root {
            paths(rest, &mut Vec::new(), &mut |path| found.push((at, path)));
        }
    }
    found.retain(|(_, path)| !path.is_empty());
    found
}

/// What follows a chain of `super`, if the chain reaches the crate's root. `rest` follows the first `super`. A module in a
/// module of the same file is not seen, so one more is taken as reaching the root too; names of no room are harmless.
fn above(rest: &str, depth: usize) -> Option<&str> {
    let (mut supers, mut rest) = (1, rest.strip_prefix("::")?);
    while let Some(after) = rest.strip_prefix("super::") {
        (supers, rest) = (supers + 1, after);
    }
    (supers >= depth).then_some(rest)
}

/// How many `super` lead from a file's module to the crate's root.
fn depth_of(path: &str) -> usize {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs");
    inner.trim_end_matches("/mod").split('/').count()
}

/// Reads one use tree or path. Calls `found` with each whole path in it.
fn paths(text: &str, so_far: &mut Vec<String>, found: &mut impl FnMut(Vec<String>)) {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        for part in parts(group) {
            let length = so_far.len();
            paths(part, so_far, found);
            so_far.truncate(length);
        }
        return;
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !name.is_empty() {
        so_far.push(name.to_owned());
    }
    match rest.strip_prefix("::") {
        Some(rest) if !name.is_empty() => paths(rest, so_far, found),
        _ => found(so_far.clone()),
    }
}

/// The parts of a group, up to its closing brace.
fn parts(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// Names in code, and where they stand.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    code.split(|c| !is_name(c)).filter_map(move |word| {
        let here = at;
        // What separates two names is one character of code, which is ASCII outside of literals; blanks are ASCII too.
        at += word.len() + code[here + word.len()..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((here, word))
    })
}

/// Scenario: the rule sees nothing. Method: plant imports upwards and sideways, in every form that Rust has for them.
#[test]
fn planted_imports_are_found() {
    for (path, text, named) in [
        (
            "src/room/actor.rs",
            "\nuse crate::relay::Hub;",
            "src/room/actor.rs:2: relay::Hub: room stands on floor 3, relay on floor 6",
        ),
        ("src/flush/plan.rs", "use crate::room::Registry;", "flush stands on floor 3, room on floor 3"),
        ("src/acts/mod.rs", "use crate::{auth::Caller, api::{error::Page}};", "acts stands on floor 5, api on floor 6"),
        ("src/wire/head.rs", "use crate::config::Config;", "wire stands on floor 1, config on floor 1"),
        ("src/protocol/mod.rs", "fn f() { crate::clock::wall() }", "protocol stands on floor 1, clock on floor 1"),
        ("src/session/core.rs", "pub use super::super::acts::Act;", "session stands on floor 3, acts on floor 5"),
        ("src/clock.rs", "mod tests { use super::super::app; }", "clock stands on floor 1, app on floor 7"),
        ("src/app/mod.rs", "use heartline::cli;", "app stands on floor 7, cli on floor 8"),
        ("src/store/durable/a.rs", "use crate::store::hot::memory::Core;", "its contract only"),
        ("src/helpers/mod.rs", "", "the room helpers has no floor"),
    ] {
        let found = violations(path, text);
        assert!(found.len() == 1 && found[0].contains(named), "{path}: {text}: {found:?}");
    }
}

/// Scenario: the rule cries wolf, and is switched off. Method: what is allowed, and what only looks like an import.
#[test]
fn allowed_imports_are_not_found() {
    for (path, text) in [
        ("src/room/actor.rs", "use crate::{clock, config::RoomConfig, store::hot::HotStore};\nuse super::load;"),
        ("src/wire/head.rs", "use crate::protocol::CloseCode;"),
        ("src/room/a.rs", "// use crate::relay::Hub;\nlet a = \"crate::relay\"; pub(crate) fn b() {}"),
        ("src/store/hot/a.rs", "use crate::store::durable::Document; use crate::store::durable::contract::Applied;"),
        ("src/store/hot/memory/a.rs", "use crate::store::hot::journal::Journal; use crate::store::log::LogRow;"),
        ("src/session/core.rs", "mod tests { use super::super::opening; use super::*; }"),
        ("src/app/build.rs", "use crate::store::durable::sqlite::Sqlite; use crate::relay;"),
        ("src/lib.rs", "pub mod app;"),
        ("src/main.rs", "use heartline::cli;"),
    ] {
        assert_eq!(violations(path, text), Vec::<String>::new(), "{path}");
    }
}
