//! When likes are recounted without anybody asking.

use super::error::ConfigError;

/// Four at night: when fewest people watch, in most places where this runs.
const AT: u16 = 4 * 60;

/// Of every item, once a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecountConfig {
    /// Minutes after midnight, UTC; `None`: never.
    pub at_min: Option<u16>,
}

impl RecountConfig {
    /// `HH:MM` or `off`.
    pub(super) fn validate(at: Option<&str>) -> Result<Self, ConfigError> {
        let at_min = match at {
            None => Some(AT),
            Some("off") => None,
            Some(text) => Some(minutes(text).ok_or_else(|| ConfigError::bad("recount_at", "is HH:MM or off"))?),
        };
        Ok(Self { at_min })
    }
}

fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |digits: &str, below: u16| {
        let plain = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse().ok().filter(|number: &u16| plain && *number < below)
    };
    Some(number(hours, 24)? * 60 + number(minutes, 60)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_read_as_it_is_written() {
        let at = |text| RecountConfig::validate(Some(text)).map(|config| config.at_min).ok();
        assert_eq!((at("00:00"), at("23:59"), at("off")), (Some(Some(0)), Some(Some(1_439)), Some(None)));
        for bad in ["24:00", "1:00", "01:60", "+1:00", "", "noon", "01:00:00"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }
}
