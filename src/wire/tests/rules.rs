//! Each rule of the standard that a client can break, and the code that it is told.

use super::{MAX_BYTES, Told, feed, frame, head, told};
use crate::protocol::CloseCode;
use crate::wire::decode::EMPTY_FRAGMENTS_MAX;
use crate::wire::{Decoder, Violation};

/// One read, its violation and close code, and a decoder that says nothing more afterwards.
#[track_caller]
fn refused(bytes: &[u8], violation: Violation, code: CloseCode) {
    let mut decoder = Decoder::new(MAX_BYTES);
    let last = feed(&mut decoder, bytes).pop();
    assert_eq!(last, Some(Told::Violation(violation)));
    assert_eq!(violation.close_code(), code);
    assert_eq!(feed(&mut decoder, &frame(0x81, b"more")), [], "a refused client is not listened to");
    assert_eq!(decoder.held_bytes(), 0);
}

#[test]
fn frames_that_break_the_framing_close_1002() {
    // Scenario: each framing rule broken alone. Method: one read on a fresh decoder.
    let protocol = CloseCode::Protocol;
    refused(b"\x81\x05Hello", Violation::Unmasked, protocol);
    for reserved in [0x40, 0x20, 0x10] {
        refused(&frame(0x81 | reserved, b"x"), Violation::ReservedBits, protocol);
    }
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        refused(&frame(0x80 | opcode, b""), Violation::ReservedOpcode, protocol);
    }
    for control in [0x08, 0x09, 0x0a] {
        refused(&frame(control, b""), Violation::Control, protocol);
        refused(&frame(0x80 | control, &[b'x'; 126]), Violation::Control, protocol);
    }
    refused(b"\x81\xfe\x00\x7d\0\0\0\0", Violation::LengthEncoding, protocol);
    refused(b"\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff\0\0\0\0", Violation::LengthEncoding, protocol);
    refused(b"\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00\0\0\0\0", Violation::LengthEncoding, protocol);
}

#[test]
fn a_wrong_first_byte_is_refused_before_the_second_arrives() {
    // Scenario: a client that sends one bad byte and waits. Method: feed that byte alone.
    refused(b"\xc1", Violation::ReservedBits, CloseCode::Protocol);
    refused(b"\x83", Violation::ReservedOpcode, CloseCode::Protocol);
}

#[test]
fn fragments_out_of_order_close_1002() {
    // Scenario: a continuation of nothing, of something finished, and a message inside a message.
    let order = |frames: &[Vec<u8>]| refused(&frames.concat(), Violation::Sequence, CloseCode::Protocol);
    order(&[frame(0x80, b"x")]);
    order(&[frame(0x00, b"x")]);
    order(&[frame(0x81, b"x"), frame(0x80, b"x")]);
    order(&[frame(0x01, b"x"), frame(0x80, b"x"), frame(0x80, b"x")]);
    order(&[frame(0x01, b"x"), frame(0x81, b"x")]);
    order(&[frame(0x01, b"x"), frame(0x02, b"x")]);
}

#[test]
fn a_ping_between_fragments_is_told_at_once_and_disturbs_nothing() {
    // Scenario: control frames inside a message, every byte in a read of its own.
    let bytes = [frame(0x01, b"Hel"), frame(0x89, b"are you there"), frame(0x8a, b"yes"), frame(0x80, b"lo")].concat();
    let expected = [Told::Ping(b"are you there".to_vec()), Told::Pong, Told::Text("Hello".into())];
    assert_eq!(told(&bytes), expected);
    let mut decoder = Decoder::new(MAX_BYTES);
    let dripped: Vec<Told> = bytes.iter().flat_map(|byte| feed(&mut decoder, &[*byte])).collect();
    assert_eq!(dripped, expected);
    assert_eq!(decoder.held_bytes(), 0);
}

#[test]
fn a_close_is_checked_and_ends_the_conversation() {
    // Scenario: good and bad close payloads (7.4, Autobahn 7.5-7.9). Method: one read with text after the close.
    for code in [1000_u16, 1001, 1002, 1003, 1007, 1011, 1012, 1014, 3000, 3999, 4000, 4999] {
        let bytes = [frame(0x88, &code.to_be_bytes()), frame(0x81, b"late")].concat();
        assert_eq!(told(&bytes), [Told::Close(Some(code))]);
    }
    assert_eq!(told(&frame(0x88, b"")), [Told::Close(None)]);
    assert_eq!(told(&frame(0x88, b"\x03\xe8bye")), [Told::Close(Some(1000))]);
    for code in [0_u16, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
        refused(&frame(0x88, &code.to_be_bytes()), Violation::ClosePayload, CloseCode::Protocol);
    }
    refused(&frame(0x88, b"\x03"), Violation::ClosePayload, CloseCode::Protocol);
    refused(&frame(0x88, b"\x03\xe8\xff"), Violation::InvalidUtf8, CloseCode::InvalidUtf8);
}

#[test]
fn binary_closes_1003_unless_it_is_asked_for() {
    // Scenario: a binary frame at a text server and at the conformance example.
    refused(&frame(0x82, b"\xff\x00"), Violation::Binary, CloseCode::Unsupported);
    let mut decoder = Decoder::new(MAX_BYTES).accept_binary();
    assert_eq!(feed(&mut decoder, &frame(0x82, b"\xff\x00")), [Told::Binary(b"\xff\x00".to_vec())]);
    let fragments = [frame(0x02, b"\xff"), frame(0x80, b"\xfe")].concat();
    assert_eq!(feed(&mut decoder, &fragments), [Told::Binary(b"\xff\xfe".to_vec())]);
}

#[test]
fn text_that_is_not_utf8_fails_at_the_first_wrong_byte() {
    // Scenario: text that becomes wrong in the middle of a frame that has not arrived (Autobahn 6.4.3), and in a first
    // fragment (6.4.1). Method: feed up to the wrong byte, and nothing after it.
    refused(&frame(0x81, b"\xce\xba\xff"), Violation::InvalidUtf8, CloseCode::InvalidUtf8);
    refused(&frame(0x81, b"\xce"), Violation::InvalidUtf8, CloseCode::InvalidUtf8);
    let whole = frame(0x81, b"\xce\xba\xf4\x90\x80\x80edited");
    assert_eq!(told(&whole[..6 + 3]), [], "an unfinished character is not wrong yet");
    refused(&whole[..6 + 4], Violation::InvalidUtf8, CloseCode::InvalidUtf8);
    refused(&frame(0x01, b"ok\xed\xa0"), Violation::InvalidUtf8, CloseCode::InvalidUtf8);
    let cut = [frame(0x01, b"\xce"), frame(0x80, b"\xba")].concat();
    assert_eq!(told(&cut), [Told::Text("κ".into())], "a character may lie across fragments");
    let unfinished = [frame(0x01, b"\xce"), frame(0x80, b"")].concat();
    refused(&unfinished, Violation::InvalidUtf8, CloseCode::InvalidUtf8);
}

#[test]
fn the_bound_holds_for_a_frame_and_for_a_message_of_fragments() {
    // Scenario: exactly the bound, and one byte more. Method: whole, and in two fragments; the header alone decides.
    let full = "x".repeat(MAX_BYTES);
    assert_eq!(told(&frame(0x81, full.as_bytes())), [Told::Text(full.clone())]);
    refused(&head(0x81, MAX_BYTES as u64 + 1, [0; 4]), Violation::TooBig, CloseCode::TooBig);
    let begun = frame(0x01, &full.as_bytes()[1..]);
    assert_eq!(told(&[begun.clone(), frame(0x80, b"x")].concat()), [Told::Text(full)]);
    refused(&[begun, head(0x80, 2, [0; 4])].concat(), Violation::TooBig, CloseCode::TooBig);
}

#[test]
fn an_honest_number_of_empty_fragments_is_taken() {
    // Scenario: as many empty fragments as the bound has, then one more.
    let empty = frame(0x00, b"").repeat(EMPTY_FRAGMENTS_MAX as usize);
    let message = [frame(0x01, b"a"), empty.clone(), frame(0x80, b"b")].concat();
    assert_eq!(told(&message), [Told::Text("ab".into())]);
    let over = [frame(0x01, b"a"), empty, frame(0x00, b"")].concat();
    refused(&over, Violation::EmptyFragments, CloseCode::Protocol);
}
