//! A bar on standard error while a run lasts: only for a person who looks at a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `length` steps; none where nobody looks. `unit` names the steps.
pub fn bar(length: u64, unit: &str, is_quiet: bool) -> ProgressBar {
    if is_quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>4} [{bar:40}] {pos}/{len} {prefix} {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(unit.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
