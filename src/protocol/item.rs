//! An item as clients see it, and a comment.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::ids::{CommentId, ItemId, Kind, UserId};

/// Milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// The wall clock's reading, given by whoever is allowed to look at it.
    pub fn from_system(now: SystemTime) -> Self {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Whether an item still takes acts. Ended is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Acts are taken.
    #[default]
    Live,
    /// Reading and moderation remain.
    Ended,
}

/// Whether viewers may comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentsMode {
    /// They may.
    #[default]
    Open,
    /// They may not; hosts may.
    Closed,
}

/// The kinds of tap that an item takes, 1 to this many.
pub const REACTIONS_MAX: usize = 8;

/// What a host can set on an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemSettings {
    /// For people; up to 200 grapheme clusters.
    pub title: String,
    /// Kinds of tap in display order, 1 to [`REACTIONS_MAX`], no two alike.
    pub reactions: Vec<Kind>,
    /// Whether viewers may comment.
    pub comments_mode: CommentsMode,
    /// The least time between two comments of one viewer; 0: no slow mode. Milliseconds.
    pub slow_mode_ms: u32,
}

impl Default for ItemSettings {
    fn default() -> Self {
        Self { title: String::new(), reactions: vec![Kind::HEART], comments_mode: CommentsMode::Open, slow_mode_ms: 0 }
    }
}

/// The settings that a host sends; absent ones stay (or are the defaults of a new item).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPatch {
    /// Normalised.
    pub title: Option<String>,
    /// 1 to [`REACTIONS_MAX`], no two alike.
    pub reactions: Option<Vec<Kind>>,
    /// Whether viewers may comment.
    pub comments_mode: Option<CommentsMode>,
    /// Slow mode; milliseconds.
    pub slow_mode_ms: Option<u32>,
}

impl ItemPatch {
    /// The settings with what was sent in place of what stood.
    pub fn apply(self, settings: ItemSettings) -> ItemSettings {
        ItemSettings {
            title: self.title.unwrap_or(settings.title),
            reactions: self.reactions.unwrap_or(settings.reactions),
            comments_mode: self.comments_mode.unwrap_or(settings.comments_mode),
            slow_mode_ms: self.slow_mode_ms.unwrap_or(settings.slow_mode_ms),
        }
    }
}

/// *item* of the wire contract: settings and state, without counts. Its fields are spliced into `snapshot` and `item`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemView {
    /// Its id.
    pub item: ItemId,
    /// For people.
    pub title: String,
    /// Live or ended.
    pub state: ItemState,
    /// Kinds of tap in display order.
    pub reactions: Vec<Kind>,
    /// Whether viewers may comment.
    pub comments_mode: CommentsMode,
    /// Slow mode; milliseconds.
    pub slow_mode_ms: u32,
    /// When it was created.
    pub started_at: Millis,
    /// When it ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Millis>,
}

impl ItemView {
    /// A new live item.
    pub fn create(item: ItemId, settings: ItemSettings, now: Millis) -> Self {
        Self {
            item,
            title: settings.title,
            state: ItemState::Live,
            reactions: settings.reactions,
            comments_mode: settings.comments_mode,
            slow_mode_ms: settings.slow_mode_ms,
            started_at: now,
            ended_at: None,
        }
    }

    /// The same item with other settings.
    pub fn with(&self, settings: ItemSettings) -> Self {
        let fresh = Self::create(self.item.clone(), settings, self.started_at);
        Self { state: self.state, ended_at: self.ended_at, ..fresh }
    }

    /// Its settings, to change some of them.
    pub fn settings(&self) -> ItemSettings {
        ItemSettings {
            title: self.title.clone(),
            reactions: self.reactions.clone(),
            comments_mode: self.comments_mode,
            slow_mode_ms: self.slow_mode_ms,
        }
    }
}

/// *comment* of the wire contract. Its text has been through [`super::text::normalize`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// The server's id.
    pub id: CommentId,
    /// Who wrote it.
    pub user: UserId,
    /// What they wrote.
    pub text: String,
    /// When the server took it.
    pub at: Millis,
    /// The display name that the token gave, if it gave one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}
