//! The id of one operation: when it began, to the nanosecond, and random bits.

use crate::edit::Hash;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many of the bits at the end are random; the nanoseconds before them take 30.
const RANDOM: u32 = 34;

/// Names one operation: `20261130T150405-7f3a91c2d4e8b605` (UTC). Later operations sort later: of the 64 bits at the end
/// the first 30 are nanoseconds. Undo goes by this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OperationId(String);

impl OperationId {
    /// A new id for an operation that begins now.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let nanoseconds = u64::from(since.subsec_nanos()) << RANDOM;
        Self::at(since.as_secs(), nanoseconds | random_bits(since) >> (64 - RANDOM))
    }

    fn at(seconds: u64, tail: u64) -> Self {
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        Self(format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}-{tail:016x}"))
    }

    /// Reads an id as it is written; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (time, random) = text.split_once('-')?;
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let hex = |s: &str| s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let (date, clock) = time.split_once('T')?;
        let good = date.len() == 8 && clock.len() == 6 && random.len() == 16;
        (good && digits(date) && digits(clock) && hex(random)).then(|| Self(text.to_owned()))
    }

    /// When the operation began, in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        let number =
            |at: std::ops::Range<usize>| self.0.get(at).and_then(|s| s.parse::<u64>().ok()).unwrap_or(0);
        let days = days(number(0..4), number(4..6), number(6..8));
        (days * 24 + number(9..11)) * 3600 + number(11..13) * 60 + number(13..15)
    }

    /// When the operation began: `2026-11-30T15:04:05Z`.
    pub fn time(&self) -> String {
        let part = |at: std::ops::Range<usize>| self.0.get(at).unwrap_or_default();
        let (date, clock) = ([part(0..4), part(4..6), part(6..8)], [part(9..11), part(11..13), part(13..15)]);
        format!("{}T{}Z", date.join("-"), clock.join(":"))
    }

    /// A moment in nanoseconds since 1970, written as [`time`](Self::time) writes it.
    pub(super) fn time_of(nanoseconds: u64) -> String {
        Self::at(nanoseconds / 1_000_000_000, 0).time()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bits that no other process gets: the keys that the standard library draws from the system for its hash maps, the
/// time and the process.
fn random_bits(since: Duration) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    let drawn = RandomState::new().hash_one((since.as_nanos(), std::process::id()));
    let mixed = Hash::of(format!("{drawn} {} {}", since.as_nanos(), std::process::id()).as_bytes());
    mixed.as_bytes()[..8].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Year, month and day of a day number since 1970, by the proleptic Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// The day number since 1970 of a day; the inverse of [`civil`].
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year.saturating_sub(u64::from(month <= 2));
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.max(1) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_show_the_time_and_sort_by_it() {
        // `date -u -d @1796051045` and `date -u -d @951782400` as the oracle.
        assert_eq!(OperationId::at(1_796_051_045, 1).as_str(), "20261130T150405-0000000000000001");
        assert_eq!(OperationId::at(951_782_400, 2).as_str(), "20000229T000000-0000000000000002");
        let first = OperationId::now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(first < OperationId::now());
        for seconds in [0, 951_782_400, 951_868_799, 1_796_051_045, 4_107_542_399] {
            assert_eq!(OperationId::at(seconds, 1).seconds(), seconds);
        }
        assert_eq!(OperationId::at(1_796_051_045, 1).time(), "2026-11-30T15:04:05Z");
    }

    #[test]
    fn only_ids_are_read() {
        let id = OperationId::now();
        assert_eq!(OperationId::parse(id.as_str()), Some(id));
        for bad in [
            "",
            "x",
            "20261130T150405",
            "20261130T150405-7F3A91C2D4E8B605",
            "../20261130T150405-7f3a91c2d4e8b6",
        ] {
            assert_eq!(OperationId::parse(bad), None, "{bad}");
        }
    }
}
