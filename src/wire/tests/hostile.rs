//! Clients that mean harm: the decoder's memory stays flat and it never panics.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::{MASK, MAX_BYTES, Told, feed, frame, head};
use crate::wire::decode::EMPTY_FRAGMENTS_MAX;
use crate::wire::head::{CONTROL_MAX_BYTES, HEAD_MAX_BYTES};
use crate::wire::{Decoder, Violation};

/// The most that a decoder may hold: a message, a header, and a control payload between two fragments.
pub(super) const HELD_MAX_BYTES: usize = MAX_BYTES + HEAD_MAX_BYTES + CONTROL_MAX_BYTES;

#[test]
fn an_idle_decoder_costs_a_few_words_and_no_allocation() {
    // Scenario: a hundred thousand sockets that say nothing, or whose last message is done. Method: size, and what is
    // held before, within and after a dripped message.
    assert!(size_of::<Decoder>() < 64, "{}", size_of::<Decoder>());
    let mut decoder = Decoder::new(MAX_BYTES);
    assert!(decoder.is_idle());
    for byte in frame(0x81, b"hello") {
        assert!(feed(&mut decoder, &[byte]).len() <= 1);
    }
    assert!(decoder.is_idle(), "what a message took is given back with it");
}

#[test]
fn a_header_that_declares_a_gibibyte_costs_nothing_however_it_drips() {
    // Scenario: actix-extras#452, 1 GiB declared, the bytes dripping. Method: byte for byte; the violation comes with
    // the header's last byte, and until then nothing but the header is held.
    let mut decoder = Decoder::new(MAX_BYTES);
    let header = head(0x81, 1 << 30, MASK);
    for (i, byte) in header.iter().enumerate() {
        let told = feed(&mut decoder, &[*byte]);
        assert!(decoder.held_bytes() <= HEAD_MAX_BYTES);
        let last = i + 1 == header.len();
        assert_eq!(told, if last { vec![Told::Violation(Violation::TooBig)] } else { vec![] });
    }
    for _ in 0..10_000 {
        assert_eq!(feed(&mut decoder, &[b'x'; 1024]), []);
        assert!(decoder.is_idle());
    }
}

#[test]
fn a_declared_frame_takes_memory_only_as_it_arrives() {
    // Scenario: 8 KiB declared, allowed, and never sent in full. Method: what is held after each byte.
    let mut decoder = Decoder::new(MAX_BYTES);
    feed(&mut decoder, &head(0x81, MAX_BYTES as u64, MASK));
    assert_eq!(decoder.held_bytes(), 0);
    let sealed = frame(0x81, &[b'x'; MAX_BYTES]);
    for (arrived, byte) in sealed[8..sealed.len() - 1].iter().enumerate() {
        assert_eq!(feed(&mut decoder, &[*byte]), []);
        assert!(decoder.held_bytes() <= (2 * (arrived + 1)).min(MAX_BYTES), "{} after {arrived}", decoder.held_bytes());
    }
}

#[test]
fn a_million_empty_continuations_do_not_accumulate() {
    // Scenario: actix-extras#651. Method: a million of them in reads of a thousand; closed 1002 within the bound, and
    // nothing is held at any time.
    let mut decoder = Decoder::new(MAX_BYTES);
    assert_eq!(feed(&mut decoder, &frame(0x01, b"")), []);
    let thousand = frame(0x00, b"").repeat(1000);
    let mut told = Vec::new();
    for _ in 0..1000 {
        told.extend(feed(&mut decoder, &thousand));
        assert_eq!(decoder.held_bytes(), 0);
    }
    assert_eq!(told, [Told::Violation(Violation::EmptyFragments)]);
    const { assert!(EMPTY_FRAGMENTS_MAX < 1000, "the first read already goes past the bound") };
}

#[test]
fn a_message_of_one_byte_fragments_is_bounded() {
    // Scenario: a message that never ends, a byte per fragment. Method: feed until refused; it is refused one byte past
    // the bound.
    let mut decoder = Decoder::new(MAX_BYTES);
    assert_eq!(feed(&mut decoder, &frame(0x01, b"x")), []);
    for _ in 1..MAX_BYTES {
        assert_eq!(feed(&mut decoder, &frame(0x00, b"x")), []);
        assert!(decoder.held_bytes() <= MAX_BYTES);
    }
    assert_eq!(feed(&mut decoder, &frame(0x00, b"x")), [Told::Violation(Violation::TooBig)]);
}

#[test]
fn ten_thousand_random_byte_strings_neither_panic_nor_grow_memory() {
    // Scenario: noise, half of it behind a first byte and a mask bit that let it in. Method: seeded strings of up to
    // 4 KiB in two reads; the most that is ever held.
    let mut random = SmallRng::seed_from_u64(6455);
    let mut messages = 0_usize;
    for round in 0..10_000 {
        let mut bytes = vec![0; random.random_range(0..4096)];
        random.fill(&mut bytes[..]);
        if round % 2 == 0 && bytes.len() > 2 {
            bytes[0] = [0x81, 0x01, 0x88, 0x89, 0x8a][round / 2 % 5];
            bytes[1] |= 0x80;
        }
        let mut decoder = Decoder::new(MAX_BYTES);
        let cut = random.random_range(0..=bytes.len());
        for read in [&bytes[..cut], &bytes[cut..]] {
            messages += feed(&mut decoder, read).len();
            assert!(decoder.held_bytes() <= HELD_MAX_BYTES);
        }
    }
    assert!(messages > 5_000, "most of the noise was judged: {messages}");
}
