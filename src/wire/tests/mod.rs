//! Tests of the codec: the standard's own examples, rules and their codes, hostile input, properties.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod hostile;
mod property;
mod rules;
mod vectors;

use super::{Decoder, Incoming, Violation};

/// The bound that sockets have by default.
const MAX_BYTES: usize = 8 * 1024;
/// RFC 6455's own example mask (5.7).
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// What a decoder told, without its borrow.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
    Violation(Violation),
}

/// Feeds one read and collects what it told.
fn feed(decoder: &mut Decoder, bytes: &[u8]) -> Vec<Told> {
    let mut buffer = bytes.to_vec();
    decoder
        .feed(&mut buffer)
        .map(|told| match told {
            Ok(Incoming::Text(text)) => Told::Text(text.into_owned()),
            Ok(Incoming::Binary(bytes)) => Told::Binary(bytes.into_owned()),
            Ok(Incoming::Ping(payload)) => Told::Ping(payload.into_owned()),
            Ok(Incoming::Pong) => Told::Pong,
            Ok(Incoming::Close(code)) => Told::Close(code),
            Err(violation) => Told::Violation(violation),
        })
        .collect()
}

/// What a fresh decoder tells of one read.
fn told(bytes: &[u8]) -> Vec<Told> {
    feed(&mut Decoder::new(MAX_BYTES), bytes)
}

/// A client's header that declares `length` in its shortest form.
fn head(first: u8, length: u64, mask: [u8; 4]) -> Vec<u8> {
    let mut out = vec![first];
    match length {
        0..=125 => out.push(0x80 | length as u8),
        126..=0xffff => {
            out.push(0x80 | 126);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend(length.to_be_bytes());
        }
    }
    out.extend(mask);
    out
}

/// A client's frame; `first` is its first byte.
fn masked(first: u8, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let mut out = head(first, payload.len() as u64, mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

/// A client's frame under the example mask.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    masked(first, payload, MASK)
}
