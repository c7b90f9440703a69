//! The examples of RFC 6455, 5.7, byte for byte, and the frames that this server sends.

use super::{Told, feed, frame, told};
use crate::protocol::CloseCode;
use crate::wire::{Decoder, encode};

#[test]
fn the_standards_server_frames_are_sent_byte_for_byte() {
    // Scenario: the unmasked examples of 5.7. Method: compare with the bytes printed there.
    assert_eq!(&encode::text("Hello")[..], b"\x81\x05Hello");
    assert_eq!(&encode::ping(b"Hello")[..], b"\x89\x05Hello");
    assert_eq!(&encode::pong(b"Hello")[..], b"\x8a\x05Hello");
    assert_eq!(&encode::binary(&[7; 256])[..4], b"\x82\x7e\x01\x00");
    assert_eq!(&encode::binary(&[7; 65536])[..10], b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00");
}

#[test]
fn the_standards_client_frames_are_understood() {
    // Scenario: the masked examples of 5.7. Method: feed the bytes printed there.
    let hello = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    assert_eq!(told(hello), [Told::Text("Hello".into())]);
    assert_eq!(frame(0x81, b"Hello"), hello, "the tests' own client agrees");
    assert_eq!(told(b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), [Told::Pong]);
    let fragments = [frame(0x01, b"Hel"), frame(0x80, b"lo")].concat();
    assert_eq!(told(&fragments), [Told::Text("Hello".into())]);
}

#[test]
fn lengths_change_their_form_exactly_where_the_standard_says() {
    // Scenario: payloads on both sides of 125 and 65,535. Method: the sizes of the encoded frames, and a round trip.
    for (payload_bytes, head_bytes) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
        let text = "x".repeat(payload_bytes);
        assert_eq!(encode::text(&text).len(), head_bytes + payload_bytes);
        let mut decoder = Decoder::new(70_000);
        assert_eq!(feed(&mut decoder, &frame(0x81, text.as_bytes())), [Told::Text(text)]);
    }
}

#[test]
fn a_close_tells_code_and_reason_and_is_echoed_with_its_code_alone() {
    // Scenario: every way to close. Method: the bytes.
    let slow = encode::close(CloseCode::Slow);
    assert_eq!(&slow[..4], [0x88, (2 + CloseCode::Slow.reason().len()) as u8, 0x0f, 0xa1]);
    assert_eq!(&slow[4..], CloseCode::Slow.reason().as_bytes());
    assert_eq!(&encode::close(CloseCode::Normal)[..], b"\x88\x02\x03\xe8");
    assert_eq!(&encode::close_echo(Some(1000))[..], b"\x88\x02\x03\xe8");
    assert_eq!(&encode::close_echo(None)[..], b"\x88\x00");
}

#[test]
fn a_control_frame_is_never_sent_longer_than_allowed() {
    // Scenario: a payload of 126 bytes, one more than a control frame may carry. Method: the declared length.
    assert_eq!(encode::ping(&[1; 126]).len(), 2 + 125);
    assert_eq!(encode::pong(&[1; 125]).len(), 2 + 125);
}
