//! Taking one guard out of the design, in wrappers around the real stores. A simulation that does not notice is worth
//! nothing: each of these must be found out.

/// A guard that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Claim asks for a delta, not for `w ≠ folded`: what cancels out is never folded.
    Vector,
    /// Align settles whatever flight there is, not only the one that the document names.
    Identity,
    /// The document is read without majority.
    Majority,
    /// A writer is taken off the document on its own, not by a claim.
    Prune,
    /// Settling resets the delta to 0 instead of taking exactly the flight off.
    Decrement,
    /// Apply does not ask for the document's fold.
    Fold,
    /// Comments are inserted after their flight was applied, not before.
    CommentsFirst,
    /// A writer sends across a gap: from wherever the item stands, though it no longer keeps what lies between.
    Gap,
}
