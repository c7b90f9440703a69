//! Who is asking, as their token says.

use std::sync::Arc;

use crate::protocol::{ItemId, Millis, Role, UserId};

/// A person with the rights that their token gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who.
    pub user: UserId,
    /// As what.
    pub role: Role,
    /// On which items; `None`: all.
    pub items: Option<Arc<[ItemId]>>,
    /// The display name that the token gives.
    pub name: Option<Arc<str>>,
    /// When the token ends.
    pub expires: Millis,
}

impl Caller {
    /// Whether the role may act on this item at all. Reading is another matter.
    pub fn acts_on(&self, item: &ItemId) -> bool {
        self.role == Role::Service || self.items.as_ref().is_none_or(|items| items.contains(item))
    }

    /// Whether this is a host of the item.
    pub fn hosts(&self, item: &ItemId) -> bool {
        matches!(self.role, Role::Host | Role::Service) && self.acts_on(item)
    }

    /// Whether the token has ended.
    pub fn expired(&self, now: Millis) -> bool {
        self.expires <= now
    }
}
