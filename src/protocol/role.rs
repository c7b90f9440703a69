//! Who somebody is to an item.

use serde::{Deserialize, Serialize};

/// A token's role; what each may do stands in `auth/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// No account: taps and reads.
    Anonymous,
    /// Somebody who watches.
    Viewer,
    /// The streamer or a moderator, on the items that the token names (none named: on all).
    Host,
    /// A back end: acts on all items, free of per-person rates.
    Service,
}
