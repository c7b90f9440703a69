//! The house rules that no compiler checks: who may import whom, how large things may be, what must not be in the tree.
//!
//! Every rule is a pure function over a file's path and text, and is itself shown to find a violation that was planted; here it is
//! run over the tree as it is. What clippy denies (`unwrap`, `panic`, printing) is left to clippy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "tidy/code.rs"]
mod code;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/words.rs"]
mod words;

use tree::File;

/// What is wrong, and where: `file:line: what`.
type Violations = Vec<String>;

/// Runs a rule over the files that it is about, and fails with everything that it found.
fn check(about: impl Fn(&str) -> bool, rule: impl Fn(&File) -> Violations) {
    let files: Vec<File> = tree::read().into_iter().filter(|file| about(&file.path)).collect();
    assert!(!files.is_empty(), "no file is looked at: the rule's paths have moved away");
    let found: Violations = files.iter().flat_map(rule).collect();
    assert!(found.is_empty(), "{} violations\n{}", found.len(), found.join("\n"));
}

/// The server's sources, which stand on floors.
fn is_source(path: &str) -> bool {
    path.starts_with("src/") && path.ends_with(".rs")
}

/// All Rust that is not a test.
fn is_rust(path: &str) -> bool {
    let own = ["src/", "loadtest/src/", "examples/"].iter().any(|folder| path.starts_with(folder));
    own && path.ends_with(".rs") && !code::is_test_file(path)
}

/// All of the pages' own code.
fn is_script(path: &str) -> bool {
    path.starts_with("static/") && path.ends_with(".js") && !path.starts_with("static/vendor/")
}

/// Scenario: a room reaches up or sideways, and soon everything knows everything. Method: every path from the crate's root, by floors.
#[test]
fn no_room_imports_sideways_or_up() {
    check(is_source, |file| layers::violations(&file.path, &file.text));
}

/// Scenario: a file or a function grows until nobody reads it. Method: count lines, tests left out.
#[test]
fn no_file_and_no_function_outgrows_a_reader() {
    check(|path| is_rust(path) || is_script(path), |file| sizes::long_file(&file.path, &file.text));
    check(is_rust, |file| sizes::long_functions(&file.path, &file.text));
}

/// Scenario: a module whose purpose has to be guessed. Method: its first line begins its head.
#[test]
fn no_module_is_without_a_head() {
    check(|path| is_source(path) || is_rust(path), |file| words::headless(&file.path, &file.text));
}

/// Scenario: a store's name leaks into the rules. Method: words of the code above the stores' floor, comments left out.
#[test]
fn no_room_above_the_stores_names_a_store() {
    check(is_source, |file| words::named_stores(&file.path, &file.text));
}

/// Scenario: a deprecated crate spreads, or unsafe code comes in unseen. Method: words of the code.
#[test]
fn no_fenced_thing_leaves_its_module() {
    check(is_source, |file| words::outside_fences(&file.path, &file.text));
    check(|path| path.ends_with(".rs"), |file| words::unsafe_code(&file.path, &file.text));
}

/// Scenario: work that is put off, or a test that is switched off, stays so. Method: look for the marks of it.
#[test]
fn nothing_is_put_off_or_switched_off() {
    check(|_| true, |file| words::put_off(&file.path, &file.text));
}

/// Scenario: a file works only where it was written. Method: look for machine paths and hosts of package registries.
#[test]
fn no_file_names_the_machine_that_it_was_written_on() {
    check(|_| true, |file| paths::violations(&file.path, &file.text));
}

/// Scenario: the code moves on and what is written about it stays behind. Method: names out of the sources, links out of the documents.
#[test]
fn no_flag_bound_metric_or_code_is_untold_and_no_link_is_dead() {
    let files = tree::read();
    let exists = |path: &str| files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")));
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    let dead = documents.flat_map(|file| docs::dead_links(&file.path, &file.text, exists));
    let found: Violations = docs::untold(&files).into_iter().chain(dead).collect();
    assert!(found.is_empty(), "{} violations\n{}", found.len(), found.join("\n"));
}

/// Scenario: the image or the compose file sets what the server does not read. Method: names of the environment against the flags.
#[test]
fn nothing_is_set_for_the_server_that_it_does_not_know() {
    let files = tree::read();
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str()).unwrap();
    for path in ["Dockerfile", "docker-compose.yml"] {
        let found = docs::unknown_settings(path, text(path), text("src/config/flags.rs"));
        assert!(text(path).contains("HEARTLINE_") && found.is_empty(), "{found:?}");
    }
}
