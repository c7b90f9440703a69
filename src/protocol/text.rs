//! Comment text: normalised or refused, never cut.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Grapheme clusters of the longest comment (UAX #29): what a person would count as characters.
pub const COMMENT_MAX_GRAPHEMES: usize = 500;
/// Bytes of the longest comment after normalisation: bounds clusters that stack marks without end.
pub const COMMENT_MAX_BYTES: usize = 2_000;
/// Grapheme clusters of the longest title.
pub const TITLE_MAX_GRAPHEMES: usize = 200;
/// Bytes of the longest title.
pub const TITLE_MAX_BYTES: usize = 800;

/// Why a text was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Nothing but white space.
    #[error("empty")]
    Empty,
    /// Over the limit in clusters or bytes.
    #[error("over {graphemes} characters or {bytes} bytes")]
    TooLong {
        /// The limit in grapheme clusters.
        graphemes: usize,
        /// The limit in bytes.
        bytes: usize,
    },
    /// A control or bidirectional-override character, which could garble other people's screens.
    #[error("has a control or direction-override character")]
    Control,
}

/// A comment's text as it is stored and shown: NFC, line breaks and tabs as spaces, no white space around it; 1 to
/// [`COMMENT_MAX_GRAPHEMES`] clusters and at most [`COMMENT_MAX_BYTES`] bytes.
pub fn normalize(text: &str) -> Result<String, BadText> {
    bounded(text, COMMENT_MAX_GRAPHEMES, COMMENT_MAX_BYTES)
        .and_then(|text| if text.is_empty() { Err(BadText::Empty) } else { Ok(text) })
}

/// A title, by the same rules; it may be empty.
pub fn normalize_title(text: &str) -> Result<String, BadText> {
    bounded(text, TITLE_MAX_GRAPHEMES, TITLE_MAX_BYTES)
}

fn bounded(text: &str, graphemes: usize, bytes: usize) -> Result<String, BadText> {
    let spaced = text.chars().map(|c| if is_break(c) { ' ' } else { c });
    // A char more than the bound is enough to know that it is too long, whatever was sent.
    let composed: String = spaced.nfc().take(bytes + 1).collect();
    let trimmed = composed.trim();
    if trimmed.chars().any(is_refused) {
        return Err(BadText::Control);
    }
    if trimmed.len() > bytes || trimmed.graphemes(true).nth(graphemes).is_some() {
        return Err(BadText::TooLong { graphemes, bytes });
    }
    Ok(trimmed.to_owned())
}

/// Line breaks and tabs, the Unicode line and paragraph separators included.
fn is_break(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Controls, and the embeddings, overrides and isolates of UAX #9. Marks and joiners are text and stay.
fn is_refused(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_emoji_counts_as_one_character() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(normalize(&family.repeat(60)).map(|t| t.len()), Ok(family.len() * 60));
    }

    #[test]
    fn too_long_is_refused_and_never_cut() {
        let long = BadText::TooLong { graphemes: COMMENT_MAX_GRAPHEMES, bytes: COMMENT_MAX_BYTES };
        assert!(normalize(&"a".repeat(500)).is_ok());
        assert_eq!(normalize(&"a".repeat(501)), Err(long));
        assert_eq!(normalize(&"漢".repeat(700)), Err(long));
        assert_eq!(normalize(&format!("a{}", "\u{301}".repeat(2_000))), Err(long));
    }

    #[test]
    fn breaks_become_spaces_and_controls_are_refused() {
        assert_eq!(normalize(" a\tb\r\nc ").as_deref(), Ok("a b  c"));
        assert_eq!(normalize("e\u{301}").as_deref(), Ok("\u{e9}"));
        assert_eq!(normalize(" \n "), Err(BadText::Empty));
        assert_eq!(normalize("a\u{0}b"), Err(BadText::Control));
        assert_eq!(normalize("a\u{202E}b"), Err(BadText::Control));
    }
}
