//! Text of a wanted length in mixed scripts: what a recording of lengths is turned back into.
//!
//! Pure. `chars` are Unicode code points, as a recording counts them; bytes are those of UTF-8. The text is in normal form C, has no
//! white space at its ends and stays within the server's bounds, so that what comes back can be compared byte for byte.

use crate::seeded::Seeded;

/// Bytes that the server takes in one comment, at most.
pub const MAX_BYTES: usize = 2_000;
/// Grapheme clusters that the server takes in one comment, at most.
pub const MAX_CLUSTERS: usize = 500;

/// What a text is made of: one cluster that stays itself beside any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    text: &'static str,
    chars: usize,
    bytes: usize,
}

const fn unit(text: &'static str, chars: usize) -> Unit {
    Unit { text, chars, bytes: text.len() }
}

/// Clusters of one code point, by their bytes: Latin; Cyrillic and Greek; CJK and Devanagari; emoji and Gothic.
const SINGLES: [&[Unit]; 4] = [
    &[unit("a", 1), unit("e", 1), unit("o", 1), unit("t", 1), unit("n", 1), unit("W", 1), unit("7", 1), unit("!", 1)],
    &[unit("ж", 1), unit("о", 1), unit("т", 1), unit("щ", 1), unit("λ", 1), unit("é", 1), unit("ß", 1)],
    &[unit("漢", 1), unit("字", 1), unit("す", 1), unit("き", 1), unit("한", 1), unit("न", 1), unit("❤", 1)],
    &[unit("🔥", 1), unit("😂", 1), unit("🎉", 1), unit("💜", 1), unit("𐌰", 1)],
];

/// Clusters of several code points: families joined by U+200D, flags, skin tones, marks that have no composed form.
const CLUSTERS: &[Unit] = &[
    unit("👨\u{200D}👩\u{200D}👧\u{200D}👦", 7),
    unit("👩\u{200D}👩\u{200D}👧", 5),
    unit("🏳\u{FE0F}\u{200D}🌈", 4),
    unit("🇧🇷", 2),
    unit("👍🏽", 2),
    unit("❤\u{FE0F}", 2),
    unit("q\u{301}", 2),
    unit("ж\u{325}\u{302}", 3),
];

/// The mark with its base that saves clusters where there are more code points than the server takes clusters.
const MARKED: Unit = unit("q\u{301}", 2);

/// A text of `chars` code points and `bytes` bytes, the same for a seed. Where no text can have both (fewer bytes than code points, more
/// than four to one), or the server's bounds forbid it, `chars` is honoured as far as the bounds allow and the bytes come near.
pub fn text_of(chars: usize, bytes: usize, seed: u64) -> String {
    let chars = chars.clamp(1, MAX_BYTES);
    let bytes = bytes.clamp(chars, chars.saturating_mul(4)).min(MAX_BYTES);
    let mut random = Seeded::new(seed);
    let mut units = shortened(chars, bytes);
    let used = units.iter().fold((0, 0), |(c, b), u| (c + u.chars, b + u.bytes));
    fill(&mut units, chars.saturating_sub(used.0), bytes.saturating_sub(used.1), &mut random);
    random.shuffle(&mut units);
    joined(&units)
}

/// The text of one recorded line: its number in front where there is room, so that lines differ.
pub fn line_text(line: u64, chars: usize, bytes: usize) -> String {
    let tag = format!("{line}:");
    match (chars.checked_sub(tag.len()), bytes.checked_sub(tag.len())) {
        (Some(c), Some(b)) if c > 0 && b >= c && b <= 4 * c && bytes <= MAX_BYTES && chars <= MAX_CLUSTERS => {
            tag + &text_of(c, b, line)
        }
        _ => text_of(chars, bytes, line),
    }
}

/// As many marked letters as bring `chars` code points under [`MAX_CLUSTERS`]: each takes two code points and three bytes.
fn shortened(chars: usize, bytes: usize) -> Vec<Unit> {
    let wanted = chars.saturating_sub(MAX_CLUSTERS);
    let affordable = bytes.saturating_sub(chars);
    vec![MARKED; wanted.min(affordable).min(chars / 2)]
}

/// Adds units of together `chars` code points and `bytes` bytes. After each step what is left can still be reached: that is kept
/// by choosing only among units that leave between one and four bytes for each code point left.
fn fill(units: &mut Vec<Unit>, mut chars: usize, mut bytes: usize, random: &mut Seeded) {
    let room = MAX_CLUSTERS.saturating_sub(units.len());
    for _ in 0..room {
        if chars == 0 {
            return;
        }
        let Some(next) = choose(chars, bytes, random) else { return };
        units.push(next);
        chars -= next.chars;
        bytes -= next.bytes;
    }
}

fn choose(chars: usize, bytes: usize, random: &mut Seeded) -> Option<Unit> {
    let fits = |u: &Unit| {
        let (Some(c), Some(b)) = (chars.checked_sub(u.chars), bytes.checked_sub(u.bytes)) else { return false };
        c <= b && b <= 4 * c
    };
    // A cluster now and then, where the text can afford it; otherwise one code point of any size that leads to the goal, mostly of
    // the size that the average asks for, so that a text is mixed through and not one script after the other.
    if random.below(6) == 0 {
        let cluster = random.pick(CLUSTERS).filter(fits);
        if cluster.is_some() {
            return cluster;
        }
    }
    let average = bytes.div_ceil(chars).clamp(1, 4);
    let size = if random.below(3) == 0 { 1 + random.below(4) } else { average };
    let wanted = SINGLES.get(size - 1).and_then(|set| random.pick(set)).filter(fits);
    wanted.or_else(|| SINGLES.iter().filter_map(|set| random.pick(set)).find(fits))
}

/// The units in a row; every sixth single Latin letter inside becomes a space, which has its size, so that words form.
fn joined(units: &[Unit]) -> String {
    let mut text = String::with_capacity(units.iter().map(|u| u.bytes).sum());
    for (i, unit) in units.iter().enumerate() {
        let inside = i > 0 && i + 1 < units.len();
        let is_space = inside && i % 6 == 5 && unit.bytes == 1;
        text.push_str(if is_space { " " } else { unit.text });
    }
    text
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn a_text_has_the_recorded_length_in_both_measures() {
        for chars in (1..60).chain([199, 365, 500]) {
            for bytes in (chars..=4 * chars).filter(|bytes| *bytes <= MAX_BYTES) {
                let text = text_of(chars, bytes, (chars * 7 + bytes) as u64);
                assert_eq!((text.chars().count(), text.len()), (chars, bytes), "{text}");
                assert_eq!(text.trim(), text);
            }
        }
    }

    #[test]
    fn more_code_points_than_clusters_are_marked_letters() {
        let text = text_of(560, 766, 3);
        assert_eq!((text.chars().count(), text.len()), (560, 766));
        assert!(text.graphemes(true).count() <= MAX_CLUSTERS);
    }

    #[test]
    fn impossible_lengths_keep_within_the_servers_bounds() {
        for (chars, bytes) in [(0, 0), (10, 5), (10, 99), (700, 700), (3_000, 9_000), (600, 2_400)] {
            let text = text_of(chars, bytes, 9);
            assert!(!text.is_empty() && text.len() <= MAX_BYTES, "{chars} {bytes}");
            assert!(text.graphemes(true).count() <= MAX_CLUSTERS, "{chars} {bytes}");
        }
        assert_eq!(text_of(10, 99, 9).chars().count(), 10);
    }

    #[test]
    fn lines_differ_where_there_is_room_and_repeat_for_their_number() {
        assert_ne!(line_text(17, 12, 30), line_text(18, 12, 30));
        assert!(line_text(17, 12, 30).starts_with("17:"));
        assert_eq!(line_text(17, 12, 30), line_text(17, 12, 30));
        assert_eq!(line_text(28_000, 2, 6).chars().count(), 2);
    }

    #[test]
    fn a_text_comes_back_from_normalisation_as_it_was() {
        use unicode_normalization::is_nfc;
        for seed in 0..500 {
            let text = text_of(120, 300, seed);
            assert!(is_nfc(&text) && text.graphemes(true).count() <= 120, "{text}");
        }
        let every: String = SINGLES.iter().copied().flatten().chain(CLUSTERS).map(|unit| unit.text).collect();
        assert!(is_nfc(&every));
        for unit in SINGLES.iter().copied().flatten().chain(CLUSTERS) {
            assert_eq!(
                (unit.text.chars().count(), unit.text.graphemes(true).count()),
                (unit.chars, 1),
                "{}",
                unit.text
            );
        }
    }

    #[test]
    fn texts_are_mixed() {
        let text = text_of(200, 420, 1);
        for bytes in 1..=4 {
            assert!(text.chars().any(|c| c.len_utf8() == bytes), "{text}");
        }
        assert!(text.contains('\u{200D}') && text.contains(' '), "{text}");
    }
}
