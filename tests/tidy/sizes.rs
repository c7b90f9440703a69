//! Sizes: a file that is read in one sitting, a function that is seen on one screen.
//!
//! Functions are found by the word `fn` and a counter of braces over code without strings and comments. Its limits: a closure and
//! a function in a function count as part of the one around them, braces in a signature (const expressions) would be taken for
//! the body, and what macros make is not seen.

use super::code::{end_of_item, line_of, tokens, without_tests};
use super::layers::words;

/// Lines of a file without its tests.
const FILE_LINES_MAX: usize = 500;
/// Lines of a function, from its name to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// The file, if it is too long.
pub fn long_file(path: &str, text: &str) -> Vec<String> {
    let lines = if path.ends_with(".rs") { lines_without_tests(text) } else { text.lines().count() };
    let why = format!("{path}:1: {lines} lines without tests, of {FILE_LINES_MAX} at most");
    if lines > FILE_LINES_MAX { vec![why] } else { Vec::new() }
}

/// Functions that are too long.
pub fn long_functions(path: &str, text: &str) -> Vec<String> {
    let code = without_tests(&tokens(text));
    let found = functions(&code).into_iter().filter(|(_, _, lines)| *lines > FUNCTION_LINES_MAX);
    found
        .map(|(line, name, lines)| {
            format!("{path}:{line}: fn {name} has {lines} lines, of {FUNCTION_LINES_MAX} at most")
        })
        .collect()
}

/// Lines of the text less those that only tests take up.
fn lines_without_tests(text: &str) -> usize {
    let code = tokens(text);
    let kept = without_tests(&code);
    let of_tests = code.lines().zip(kept.lines()).filter(|(with, without)| with != without).count();
    text.lines().count() - of_tests
}

/// Line, name and length of each function with a body.
fn functions(code: &str) -> Vec<(usize, &str, usize)> {
    let mut names = words(code).peekable();
    let mut found = Vec::new();
    while let Some((at, word)) = names.next() {
        let Some((name_at, name)) = names.peek().copied().filter(|_| word == "fn") else { continue };
        // `fn(u8) -> u8` is a type: its next name is not after a blank.
        if !code[at + 2..name_at].trim().is_empty() {
            continue;
        }
        let end = end_of_item(code, at);
        if code[..end].ends_with('}') {
            found.push((line_of(code, at), name, line_of(code, end - 1) - line_of(code, at) + 1));
        }
    }
    found
}

/// Scenario: the rule sees nothing. Method: one line more than is allowed, and as many as are.
#[test]
fn planted_lengths_are_found() {
    let function = |lines: usize| {
        format!(
            "trait T {{ fn no_body(&self); }}\nfn long(f: fn(u8) -> u8) {{\n{}}}\n",
            "    f(b\"}\"[0]);\n".repeat(lines - 2)
        )
    };
    assert_eq!(long_functions("a.rs", &function(70)), Vec::<String>::new());
    assert_eq!(long_functions("a.rs", &function(71)), ["a.rs:2: fn long has 71 lines, of 70 at most"]);
    let tests = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n";
    assert_eq!(long_file("a.rs", &format!("{}{tests}", "//\n".repeat(500))), Vec::<String>::new());
    assert_eq!(long_file("a.rs", &format!("{}{tests}", "//\n".repeat(501))).len(), 1);
    assert_eq!(long_file("a.js", &"//\n".repeat(501)).len(), 1);
    assert_eq!(
        long_functions("a.rs", &format!("#[cfg(test)]\nmod tests {{\n{}\n}}", function(99))),
        Vec::<String>::new()
    );
}
