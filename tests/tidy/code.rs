//! Rust as far as the rules need it: code without its comments, and without its tests.
//!
//! No parser: a scan over characters that knows comments, strings, characters and braces. Lines stay where they are, since all
//! that is taken out is blanked. Where it is wrong: macros that build code from strings, which are not seen.

/// The text with every comment blanked, doc comments included.
pub fn without_comments(text: &str) -> String {
    scan(text, false)
}

/// The text with every comment, string and character literal blanked: what is left are tokens.
pub fn tokens(text: &str) -> String {
    scan(text, true)
}

/// Blanks every item that stands under `#[cfg(test)]`. Takes [`tokens`], or text that was made to fit them.
pub fn without_tests(tokens: &str) -> String {
    let mut out = tokens.to_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let end = end_of_item(&out, start);
        let blank: String = out[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
    }
    out
}

/// Whether all of a file is tests.
pub fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.starts_with("tests/")
}

/// The line, from 1, of a byte.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Whether a character can be part of a name.
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the item that begins at `start` ends: at its brace's partner, or at the semicolon of one without a body.
pub fn end_of_item(tokens: &str, start: usize) -> usize {
    let mut depth = 0usize;
    for (at, c) in tokens[start..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' if depth <= 1 => return start + at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return start + at + 1,
            _ => {}
        }
    }
    tokens.len()
}

fn scan(text: &str, literals_too: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, kind) = next(rest, out.chars().next_back());
        let (piece, after) = rest.split_at(taken.max(c.len_utf8()));
        if kind == Kind::Comment || (kind == Kind::Literal && literals_too) {
            // Bytes stay where they are: offsets in either form fit the other.
            out.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(piece);
        }
        rest = after;
    }
    out
}

#[derive(PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// How many bytes belong together from here on, and what they are.
fn next(rest: &str, before: Option<char>) -> (usize, Kind) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Kind::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Kind::Comment);
    }
    if rest.starts_with('"') {
        return (string(rest), Kind::Literal);
    }
    if rest.starts_with('\'') {
        return character(rest).map_or((1, Kind::Code), |taken| (taken, Kind::Literal));
    }
    if rest.starts_with('r') && !before.is_some_and(|c| is_name(c) && c != 'b') {
        return raw_string(rest).map_or((1, Kind::Code), |taken| (taken, Kind::Literal));
    }
    (0, Kind::Code)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `'x'` and `'\n'` are characters, `'a` is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return rest[1..].char_indices().skip(2).find(|(_, c)| *c == '\'').map(|(at, _)| at + 2);
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 1)
}

/// `r"…"` and `r#"…"#`; `r#name` is a name.
fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let body = rest[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(body.find(&end).map_or(rest.len(), |at| 2 + hashes + at + end.len()))
}

/// Scenario: a rule is fooled by a comment or a string. Method: each form of them, with a brace that must not count.
#[test]
fn comments_and_literals_are_not_taken_for_code() {
    for hidden in [
        "// {",
        "/* { /* { */ { */",
        "\"{ \\\" {\"",
        "'{'",
        "'\\''",
        "'\\u{7b}'",
        "r\"{\\\"",
        "r#\"{ \" {\"#",
        "b\"{\"",
        "/// {",
    ] {
        let text = format!("let a = {hidden}\n; b");
        let seen = tokens(&text);
        assert!(!seen.contains('{') && seen.ends_with("\n; b"), "{hidden}: {seen}");
        assert_eq!(seen.len(), text.len());
    }
    assert_eq!(tokens("fn f<'a>(x: &'a str) { 'a: loop {} }"), "fn f<'a>(x: &'a str) { 'a: loop {} }");
    assert_eq!(without_comments("a // b\n\"// c\""), "a     \n\"// c\"");
}

/// Scenario: a test's code is held to the rules of the server's. Method: a module, a single item, and what follows.
#[test]
fn tests_are_taken_out_and_nothing_else() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { [1]; }\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}";
    let left: Vec<String> = without_tests(text).lines().map(|line| line.trim().to_owned()).collect();
    assert_eq!(left, ["fn a() {}", "", "", "", "", "fn c() {}", "", "", "fn e() {}"]);
}
