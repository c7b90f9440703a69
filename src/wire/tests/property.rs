//! Properties over arbitrary messages, masks, fragments and reads.

use proptest::collection::vec;
use proptest::prelude::*;

use super::hostile::HELD_MAX_BYTES;
use super::{MAX_BYTES, Told, feed, masked};
use crate::wire::Decoder;

/// A message as its bytes on the wire, and what the decoder must tell of it.
type Sent = (Vec<u8>, Vec<Told>);

/// Splits `payload` at the given places, wherever in a character they fall.
fn pieces<'a>(payload: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(payload.len() + 1)).collect();
    places.extend([0, payload.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &payload[pair[0]..pair[1]]).collect()
}

/// A text message in up to five fragments with a ping after the first.
fn text() -> impl Strategy<Value = Sent> {
    (".{0,200}", vec(any::<prop::sample::Index>(), 0..5), any::<[u8; 4]>(), vec(any::<u8>(), 0..=125)).prop_map(
        |(text, cuts, mask, ping)| {
            let fragments = pieces(text.as_bytes(), &cuts);
            let mut bytes = Vec::new();
            let mut told = Vec::new();
            for (i, fragment) in fragments.iter().enumerate() {
                let fin = if i + 1 == fragments.len() { 0x80 } else { 0 };
                bytes.extend(masked(fin | u8::from(i == 0), fragment, mask));
                if i == 0 && fin == 0 {
                    bytes.extend(masked(0x89, &ping, mask));
                    told.push(Told::Ping(ping.clone()));
                }
            }
            told.push(Told::Text(text));
            (bytes, told)
        },
    )
}

/// A long message in one frame, so that all three forms of a length occur.
fn long() -> impl Strategy<Value = Sent> {
    (0..=MAX_BYTES, any::<[u8; 4]>()).prop_map(|(length, mask)| {
        let text: String = ('a'..='z').cycle().take(length).collect();
        (masked(0x81, text.as_bytes(), mask), vec![Told::Text(text)])
    })
}

fn pong() -> impl Strategy<Value = Sent> {
    (vec(any::<u8>(), 0..=125), any::<[u8; 4]>())
        .prop_map(|(payload, mask)| (masked(0x8a, &payload, mask), vec![Told::Pong]))
}

/// Feeds `bytes` in reads cut at the given places; what was told, and the most that was held.
fn read(decoder: &mut Decoder, bytes: &[u8], cuts: &[prop::sample::Index]) -> (Vec<Told>, usize) {
    let mut told = Vec::new();
    let mut held_max_bytes = 0;
    for piece in pieces(bytes, cuts) {
        told.extend(feed(decoder, piece));
        held_max_bytes = held_max_bytes.max(decoder.held_bytes());
    }
    (told, held_max_bytes)
}

proptest! {
    #[test]
    fn where_reads_are_cut_changes_nothing(
        sent in vec(prop_oneof![text(), long(), pong()], 1..6),
        cuts in vec(any::<prop::sample::Index>(), 0..40),
    ) {
        // Scenario: some messages, fragmented and masked by a client, arrive in arbitrary reads. Method: what is told
        // is what was sent, in order, within the bound, and nothing is left behind.
        let bytes: Vec<u8> = sent.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        let expected: Vec<Told> = sent.into_iter().flat_map(|(_, told)| told).collect();
        let mut decoder = Decoder::new(MAX_BYTES);
        let (told, held_max_bytes) = read(&mut decoder, &bytes, &cuts);
        prop_assert_eq!(told, expected);
        prop_assert!(held_max_bytes <= HELD_MAX_BYTES);
        prop_assert!(decoder.is_idle());
    }

    #[test]
    fn arbitrary_bytes_are_judged_alike_however_they_are_cut(
        bytes in vec(prop_oneof![2 => any::<u8>(), 1 => Just(0x81), 1 => Just(0x01), 1 => Just(0x80)], 0..400),
        cuts in vec(any::<prop::sample::Index>(), 0..10),
    ) {
        // Scenario: noise with a taste for frames. Method: one read and many tell the same, and hold no more than a
        // bound.
        let (whole, _) = read(&mut Decoder::new(MAX_BYTES), &bytes, &[]);
        let (told, held_max_bytes) = read(&mut Decoder::new(MAX_BYTES), &bytes, &cuts);
        prop_assert_eq!(told, whole);
        prop_assert!(held_max_bytes <= HELD_MAX_BYTES);
    }
}
