//! Speed by the time of day: `[[schedule]]` in the configuration.
//!
//! An entry holds from one time of day to another, on some days of the week, in a time zone of its own. If the second time is
//! before the first, it holds over midnight, and belongs to the day on which it begins. Of several that hold, the first counts.

use std::fmt;

use mattock_env::UnixTime;
use serde::Serialize;

use super::SpeedLimit;

const DAY_S: i64 = 86_400;
/// So many days ahead an end is looked for.
const DAYS_AHEAD: i64 = 8;

/// Days of the week, from Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(u8);

const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl Days {
    /// Every day.
    pub const ALL: Days = Days(0x7f);

    /// From names: `mon`, `tue`, …
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Days, String> {
        let mut days = 0;
        for name in names {
            let name = name.as_ref();
            let Some(day) = NAMES.iter().position(|known| *known == name.to_ascii_lowercase()) else {
                return Err(format!("{name:?} is no day; use {}", NAMES.join(", ")));
            };
            days |= 1 << day;
        }
        if days == 0 { Err("it names no day; leave it out for every day".into()) } else { Ok(Days(days)) }
    }

    fn has(self, day: i64) -> bool {
        self.0 >> day.rem_euclid(7) & 1 == 1
    }

    /// Their names.
    pub fn names(self) -> Vec<&'static str> {
        (0..7).filter(|day| self.has(*day)).map(|day| NAMES[day as usize]).collect()
    }
}

/// Where a time of day is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// Where the machine is.
    #[default]
    Local,
    /// So many seconds ahead of UTC.
    Fixed(i32),
}

impl Zone {
    /// `local`, `UTC`, `+01:00`
    pub fn parse(text: &str) -> Result<Zone, String> {
        let wrong =
            || format!("{text:?} is no time zone; write \"local\", \"UTC\", or an offset like \"+01:00\"");
        match text {
            "local" => return Ok(Zone::Local),
            "UTC" | "utc" | "Z" => return Ok(Zone::Fixed(0)),
            _ => {}
        }
        let sign = match text.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(wrong()),
        };
        let minutes = parse_time(&text[1..]).map_err(|_| wrong())?;
        if minutes > 14 * 60 { Err(wrong()) } else { Ok(Zone::Fixed(sign * 60 * i32::from(minutes))) }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Zone::Local => out.write_str("local"),
            Zone::Fixed(0) => out.write_str("UTC"),
            Zone::Fixed(seconds) => {
                let (sign, minutes) = (if *seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
                write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// `08:30` in minutes since midnight; `24:00` is allowed.
pub(crate) fn parse_time(text: &str) -> Result<u16, String> {
    let parts = text.split_once(':').filter(|(hours, minutes)| {
        (1..=2).contains(&hours.len())
            && minutes.len() == 2
            && hours.bytes().chain(minutes.bytes()).all(|byte| byte.is_ascii_digit())
    });
    let number =
        parts.and_then(|(hours, minutes)| Some((hours.parse::<u16>().ok()?, minutes.parse::<u16>().ok()?)));
    match number {
        Some((hours, minutes)) if minutes < 60 && hours * 60 + minutes <= 24 * 60 => Ok(hours * 60 + minutes),
        _ => Err(format!("{text:?} is no time of day; write it like 08:00")),
    }
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleEntry {
    /// From when: minutes since midnight.
    pub from_min: u16,
    /// Until when. Equal to `from_min`: all day.
    pub to_min: u16,
    /// On which days it begins.
    pub days: Days,
    /// In which time zone.
    pub zone: Zone,
    /// How fast the crawl may be; what is not said is as `[speed]` says.
    pub limit: SpeedLimit,
    /// Whether nothing is fetched at all.
    pub pause: bool,
}

/// For displays.
impl Serialize for ScheduleEntry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let time = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        let mut out = serializer.serialize_struct("ScheduleEntry", 7)?;
        out.serialize_field("from", &time(self.from_min))?;
        out.serialize_field("to", &time(self.to_min))?;
        out.serialize_field("days", &self.days.names())?;
        out.serialize_field("timezone", &self.zone.to_string())?;
        out.serialize_field("pages_per_s", &self.limit.pages_per_s)?;
        out.serialize_field("bits_per_s", &self.limit.bits_per_s)?;
        out.serialize_field("pause", &self.pause)?;
        out.end()
    }
}

impl ScheduleEntry {
    fn offset_s(&self, unix_s: i64, local: &impl Fn(UnixTime) -> i32) -> i64 {
        i64::from(match self.zone {
            Zone::Local => local(UnixTime::from_micros(unix_s * 1_000_000)),
            Zone::Fixed(seconds) => seconds,
        })
    }

    /// Whether it holds at a second since 1970.
    fn holds(&self, unix_s: i64, local: &impl Fn(UnixTime) -> i32) -> bool {
        let there = unix_s + self.offset_s(unix_s, local);
        // The first day of 1970 was a Thursday.
        let (day, second) = (there.div_euclid(DAY_S) + 3, there.rem_euclid(DAY_S));
        let (from, to) = (i64::from(self.from_min) * 60, i64::from(self.to_min) * 60);
        if from < to {
            self.days.has(day) && (from..to).contains(&second)
        } else {
            self.days.has(day) && second >= from || self.days.has(day - 1) && second < to
        }
    }

    /// The first second after this one at which it may begin or end to hold.
    fn next_edge(&self, unix_s: i64, local: &impl Fn(UnixTime) -> i32) -> i64 {
        let second = (unix_s + self.offset_s(unix_s, local)).rem_euclid(DAY_S);
        let until = |minutes: u16| match (i64::from(minutes) * 60 - second).rem_euclid(DAY_S) {
            0 => DAY_S,
            left => left,
        };
        let midnight = DAY_S - second;
        unix_s + until(self.from_min).min(until(self.to_min)).min(midnight)
    }
}

/// All entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// In the order in which they are asked.
    pub entries: Vec<ScheduleEntry>,
}

impl Schedule {
    /// The entry that holds at a moment. `local` says how many seconds the machine's time is ahead of UTC.
    pub fn at(&self, now: UnixTime, local: impl Fn(UnixTime) -> i32) -> Option<usize> {
        self.entries.iter().position(|entry| entry.holds(now.as_seconds(), &local))
    }

    /// The next moment at which something may change; `None` if there are no entries.
    pub fn next_edge(&self, now: UnixTime, local: impl Fn(UnixTime) -> i32) -> Option<UnixTime> {
        let edges = self.entries.iter().map(|entry| entry.next_edge(now.as_seconds(), &local));
        edges.min().map(|unix_s| UnixTime::from_micros(unix_s * 1_000_000))
    }

    /// Until when what holds now does; `None` if that is not within a week.
    pub fn until(&self, now: UnixTime, local: impl Fn(UnixTime) -> i32) -> Option<UnixTime> {
        let holds = self.at(now, &local);
        let mut edge = self.next_edge(now, &local)?;
        while edge.as_seconds() < now.as_seconds() + DAYS_AHEAD * DAY_S {
            if self.at(edge, &local) != holds {
                return Some(edge);
            }
            edge = self.next_edge(edge, &local)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(from: &str, to: &str, days: &[&str], zone: &str) -> ScheduleEntry {
        ScheduleEntry {
            from_min: parse_time(from).unwrap(),
            to_min: parse_time(to).unwrap(),
            days: if days.is_empty() { Days::ALL } else { Days::parse(days).unwrap() },
            zone: Zone::parse(zone).unwrap(),
            limit: SpeedLimit::NONE,
            pause: true,
        }
    }

    /// Seconds since 1970 of a day in June 2007, which began on a Friday.
    fn june(day: i64, hour: i64, minute: i64) -> UnixTime {
        UnixTime::from_micros((1_180_656_000 + (day - 1) * DAY_S + hour * 3600 + minute * 60) * 1_000_000)
    }

    #[test]
    fn an_entry_holds_from_its_first_minute_to_its_last() {
        let schedule = Schedule { entries: vec![entry("08:00", "18:00", &["mon", "fri"], "UTC")] };
        let at = |time| schedule.at(time, |_| 0);
        assert_eq!(june(9, 0, 0).to_string(), "2007-06-09T00:00:00Z");
        assert_eq!((at(june(1, 7, 59)), at(june(1, 8, 0))), (None, Some(0)));
        assert_eq!((at(june(1, 17, 59)), at(june(1, 18, 0))), (Some(0), None));
        assert_eq!((at(june(2, 9, 0)), at(june(4, 9, 0))), (None, Some(0)), "Saturday, Monday");
        assert_eq!(schedule.until(june(1, 9, 0), |_| 0), Some(june(1, 18, 0)));
        assert_eq!(schedule.until(june(1, 18, 0), |_| 0), Some(june(4, 8, 0)), "over the weekend");
    }

    #[test]
    fn over_midnight_it_belongs_to_the_day_on_which_it_begins() {
        let schedule = Schedule { entries: vec![entry("22:00", "06:00", &["sat"], "+02:00")] };
        let at = |time| schedule.at(time, |_| 0).is_some();
        // 22:00 there is 20:00 UTC.
        assert!(!at(june(2, 19, 59)) && at(june(2, 20, 0)) && at(june(3, 3, 59)) && !at(june(3, 4, 0)));
        assert!(!at(june(3, 21, 0)), "Sunday");
        assert_eq!(schedule.until(june(2, 23, 0), |_| 0), Some(june(3, 4, 0)));
    }

    #[test]
    fn the_first_that_holds_counts_and_local_time_is_asked_for() {
        let entries = vec![entry("12:00", "13:00", &[], "local"), entry("0:00", "24:00", &[], "UTC")];
        let schedule = Schedule { entries };
        // Summer time began at 10:00 UTC.
        let local = |time: UnixTime| if time >= june(5, 10, 0) { 7200 } else { 3600 };
        assert_eq!(schedule.at(june(4, 11, 30), local), Some(0));
        assert_eq!(schedule.at(june(5, 9, 30), local), Some(1));
        assert_eq!(schedule.at(june(5, 10, 30), local), Some(0));
        assert_eq!(schedule.at(june(5, 11, 0), local), Some(1));
        let always = Schedule { entries: vec![entry("00:00", "24:00", &[], "UTC")] };
        assert_eq!(always.until(june(5, 11, 0), local), None);
        let same = Schedule { entries: vec![entry("10:00", "10:00", &[], "UTC")] };
        assert!((0..48).all(|half| same.at(june(5, 0, 30 * half), local).is_some()));
    }

    #[test]
    fn edges_never_miss_a_change() {
        let entries = vec![
            entry("22:15", "06:00", &["mon", "sun"], "-03:30"),
            entry("08:00", "18:00", &["tue", "thu"], "+01:00"),
            entry("17:00", "17:00", &["sat"], "UTC"),
        ];
        let schedule = Schedule { entries };
        let (mut edge, mut holds) = (june(1, 0, 0), schedule.at(june(1, 0, 0), |_| 0));
        for minute in 0..20 * 24 * 60 {
            let now = june(1, 0, minute);
            if now >= edge {
                holds = schedule.at(now, |_| 0);
                edge = schedule.next_edge(now, |_| 0).unwrap();
            }
            assert_eq!(schedule.at(now, |_| 0), holds, "{now}");
        }
    }

    #[test]
    fn what_is_wrong_is_refused_with_a_way_to_write_it() {
        for bad in ["8", "25:00", "24:01", "08:60", "8:0", "-1:00", ""] {
            assert!(parse_time(bad).unwrap_err().contains("08:00"), "{bad}");
        }
        for bad in ["CET", "+1", "+15:00", "", "+", "Ä"] {
            assert!(Zone::parse(bad).unwrap_err().contains("+01:00"), "{bad}");
        }
        assert!(Days::parse(&["monday"]).unwrap_err().contains("mon, tue"));
        assert!(Days::parse::<&str>(&[]).is_err());
        for text in ["local", "UTC", "+05:30", "-08:00"] {
            assert_eq!(Zone::parse(text).unwrap().to_string(), text);
        }
    }
}
