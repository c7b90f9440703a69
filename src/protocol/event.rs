//! The numbered events of a room: what takes the next `seq`, is kept in the history and can be resumed.

use serde::{Deserialize, Serialize};

use super::counts::Counters;
use super::item::{Comment, ItemView};

/// One event. Serialised as the message's own fields with its `t`; `item` and `seq` are added where it is numbered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum RoomEvent {
    /// The comments that one contribution brought, in order.
    Comments {
        /// At least one.
        list: Vec<Comment>,
    },
    /// The settings changed.
    Item(ItemView),
    /// The end has begun; acts are refused from here on.
    Ending {},
    /// The end: final totals. The counts object is made from them by each room, which knows the reactions.
    Ended {
        /// Final totals.
        totals: Counters,
    },
}
