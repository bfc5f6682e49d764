//! The one reader of measured data: CSV with a line of headings, then
//! numbers. The column `t` (or `time`) is the time, in seconds, as time stamps or
//! as dates (`instant.rs`), unless a sample time counts the lines; columns that nobody asks for may hold anything. A
//! heading may name the unit of its column (`heading.rs`).

use super::heading::{Heading, Scale};
use super::instant::{Instant, STAMP};
use crate::tolerance::UNEVEN_TIME;
use paynter_base::{Code, Diagnostic, Source, SourceMap, Span, closest, code};
use paynter_graph::dimension::Unit;

/// Data files larger than this are refused.
pub const MAX_DATA_SIZE: u64 = 256 << 20;

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataError {
    code: Code,
    message: String,
    help: String,
    start: usize,
    end: usize,
}

impl DataError {
    /// As a finding; the file joins the sources, so that its line can be shown.
    pub fn diagnostic(self, path: &str, text: &str, sources: &mut SourceMap) -> Diagnostic {
        let file = sources.add(Source::new(path, text));
        let span = Span::new(file, self.start as u32, self.end as u32);
        Diagnostic::new(self.code, self.message).at(span).help(self.help)
    }
}

/// A cell with the place of its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    pub text: &'a str,
    pub start: usize,
}

impl Cell<'_> {
    pub fn error(&self, message: String, help: impl Into<String>) -> DataError {
        let end = self.start + self.text.len();
        DataError { code: code::BAD_DATA, message, help: help.into(), start: self.start, end }
    }

    /// The number, or NaN where a sample is missing: nothing is there, or a word for that.
    fn sample(&self, heading: &str, line: usize) -> Result<f64, DataError> {
        let missing =
            ["", "nan", "na", "n/a", "null", "-"].iter().any(|word| self.text.eq_ignore_ascii_case(word));
        if missing { Ok(f64::NAN) } else { self.number(heading, line) }
    }

    /// The instant that a date or a time stamp tells.
    fn instant(&self, written: Written, heading: &str, line: usize) -> Result<Instant, DataError> {
        let found = match written {
            Written::Stamps(seconds) => Instant::stamp(self.text, seconds),
            _ => Instant::read(self.text),
        };
        found.ok_or_else(|| {
            self.error(
                format!(
                    "line {line}: `{}` in column `{heading}` is no time as those above it are",
                    self.text
                ),
                "write all times alike: numbers of seconds, or dates such as `2026-11-19 20:39:24.5`",
            )
        })
    }

    fn number(&self, heading: &str, line: usize) -> Result<f64, DataError> {
        let text = self.text;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err(self.error(
                format!("line {line}: `{text}` in column `{heading}` is no finite number"),
                "delete the line, or put a measured value there: a model cannot be driven by what is not known",
            )),
            Err(_) if text.is_empty() => Err(self.error(
                format!("line {line} has nothing in column `{heading}`"),
                "put a number there, or delete the line",
            )),
            Err(_) if text.contains(',') => Err(self.error(
                format!("line {line}: `{text}` in column `{heading}` is no number"),
                "write decimal points: `1.5`, not `1,5`",
            )),
            Err(_) => Err(self.error(
                format!("line {line}: `{text}` in column `{heading}` is no number"),
                "write a plain number there, such as `1.5` or `2e-3`, with its unit in the model",
            )),
        }
    }
}

/// A line that is not blank and no comment, with its number from 1.
struct Line<'a> {
    number: usize,
    text: &'a str,
    start: usize,
}

impl<'a> Line<'a> {
    /// Its cells, between commas outside quotation marks.
    fn cells(&self) -> Vec<Cell<'a>> {
        let mut cells = Vec::new();
        let (mut from, mut quoted) = (0, false);
        let commas = self.text.bytes().enumerate().filter(|(_, byte)| {
            quoted ^= *byte == b'"';
            *byte == b',' && !quoted
        });
        for to in commas.map(|(at, _)| at).chain([self.text.len()]) {
            let cell = &self.text[from..to];
            let bare = cell.trim();
            let inner = bare.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(bare).trim();
            let start = self.start + from + (inner.as_ptr() as usize - cell.as_ptr() as usize);
            cells.push(Cell { text: inner, start });
            from = to + 1;
        }
        cells
    }

    fn error(&self, message: String, help: &str) -> DataError {
        Cell { text: self.text, start: self.start }.error(message, help)
    }
}

/// The lines of a text that hold something.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut next = bom;
    let numbered = text[bom..].split_inclusive('\n').enumerate().map(move |(index, line)| {
        let start = next;
        next += line.len();
        Line { number: index + 1, text: line.trim_end(), start }
    });
    numbered.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
}

/// The first cell of a column below its heading that holds something.
fn first_time(text: &str, place: usize) -> Option<&str> {
    let mut cells = lines(text).skip(1).filter_map(|line| Some(line.cells().get(place)?.text));
    cells.find(|text| !text.is_empty())
}

/// A file whose headings have been read.
pub(crate) struct Csv<'a> {
    text: &'a str,
    heads: Vec<Heading<'a>>,
    clock: Clock,
    /// The column of times that holds none, beside a sample time.
    passed_over: Option<usize>,
}

/// When samples were taken.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Clock {
    /// When the column at this place says.
    Column(usize, Written),
    /// One after the other, so many seconds apart, from zero on.
    Even(f64),
    /// As the column at this place says, which has to agree with a sample time.
    Both(usize, Written, f64),
}

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Written {
    /// As numbers, in units of so many seconds.
    Numbers(f64),
    /// As time stamps, likewise, which are counted from the first.
    Stamps(f64),
    /// As dates and times of day, which are counted from the first.
    Dates,
}

impl Written {
    /// The way in which the first time of a column is written.
    fn of(text: &str, seconds: f64) -> Written {
        match text.parse::<f64>() {
            Ok(value) if (value * seconds).abs() >= STAMP && value.is_finite() => Written::Stamps(seconds),
            Err(_) if Instant::read(text).is_some() => Written::Dates,
            _ => Written::Numbers(seconds),
        }
    }
}

/// Whether samples may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// Every cell holds a number.
    Refused,
    /// A missing sample is read as NaN.
    Kept,
}

/// Columns of numbers over rising times.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Columns {
    pub times: Vec<f64>,
    /// The date, time of day or time stamp that times are counted from, where they are written so.
    pub begins: Option<String>,
    /// The heading of a column of times that holds none, in whose place a sample time counts.
    pub passed_over: Option<String>,
    /// The wanted columns, in the order they were asked for.
    pub values: Vec<Vec<f64>>,
}

impl<'a> Csv<'a> {
    /// Reads the headings of a file with a column of times.
    pub fn new(text: &'a str) -> Result<Csv<'a>, DataError> {
        Csv::open(text, None, None)
    }

    /// Reads the headings; the column of times may have a heading of its own, and a sample time stands in its place.
    pub fn open(text: &'a str, named: Option<&str>, sample_time: Option<f64>) -> Result<Csv<'a>, DataError> {
        let Some(first) = lines(text).next() else {
            let place = Cell { text: "", start: 0 };
            return Err(place.error(
                "the file is empty".to_owned(),
                "write a line of headings, `t` and the inputs, then a line of numbers for each time",
            ));
        };
        if let Some(at) = first.text.find('\r') {
            let place = Cell { text: &first.text[at..=at], start: first.start + at };
            return Err(place.error(
                "the lines end with a carriage return alone".to_owned(),
                "save the file with line ends of Unix (LF) or Windows (CR LF)",
            ));
        }
        let heads: Vec<Heading<'a>> = first.cells().into_iter().map(Heading::new).collect();
        if heads.len() == 1
            && let Some(sign) = [';', '\t'].into_iter().find(|sign| first.text.contains(*sign))
        {
            let name = if sign == ';' { "semicolons" } else { "tabs" };
            return Err(first.error(
                format!("the columns are separated by {name}"),
                "save the file with commas between columns and points in numbers: `t,u`, then `0.5,1.2`",
            ));
        }
        if heads.iter().all(|head| head.name.parse::<f64>().is_ok()) {
            return Err(first.error(
                "the first line holds numbers in place of headings".to_owned(),
                "put a line with the names of the columns above them: `t` for the time, then those of inputs",
            ));
        }
        // Beside a column `t`, `T` is a temperature.
        let exact = heads.iter().any(|head| head.name == "t");
        let is_time = |head: &Heading<'_>| match (named, exact) {
            (Some(name), _) => head.is(name),
            (None, true) => head.name == "t" || head.name.eq_ignore_ascii_case("time"),
            (None, false) => ["t", "time"].iter().any(|name| head.name.eq_ignore_ascii_case(name)),
        };
        let time = heads.iter().position(is_time);
        if let Some(second) = heads.iter().filter(|head| is_time(head)).nth(1) {
            return Err(second.cell.error(
                "two columns are called `t` or `time`".to_owned(),
                "keep one column of times, and rename or delete the other",
            ));
        }
        match (time, sample_time) {
            (None, _) if named.is_some() => {
                let csv = Csv { text, heads, clock: Clock::Even(1.0), passed_over: None };
                csv.place(named.unwrap_or_default()).and(Ok(csv))
            }
            (None, Some(step)) => Ok(Csv { text, heads, clock: Clock::Even(step), passed_over: None }),
            (Some(time), Some(step)) => {
                let seconds = heads[time].seconds().unwrap_or(f64::NAN);
                let written = first_time(text, time).map(|text| Written::of(text, seconds));
                let mut body = lines(text).skip(1).filter_map(|line| Some(line.cells().get(time)?.text));
                // What names or words say of samples, say, is no time.
                let is_time = |text: &str| match written {
                    Some(Written::Dates) => Instant::read(text).is_some(),
                    _ => text.parse::<f64>().is_ok() && seconds.is_finite(),
                };
                let all = body.all(|text| text.is_empty() || is_time(text));
                let passed_over = (!all).then_some(time);
                let clock = match written.filter(|_| all) {
                    Some(written) => Clock::Both(time, written, step),
                    None => Clock::Even(step),
                };
                Ok(Csv { text, heads, clock, passed_over })
            }
            (Some(time), None) => {
                let written = first_time(text, time).filter(|text| Instant::read(text).is_some());
                let written = match written {
                    Some(_) => Written::Dates,
                    None => {
                        let seconds = heads[time].seconds()?;
                        first_time(text, time)
                            .map_or(Written::Numbers(seconds), |text| Written::of(text, seconds))
                    }
                };
                Ok(Csv { text, heads, clock: Clock::Column(time, written), passed_over: None })
            }
            (None, None) => Err(first.error(
                "no column is called `t`".to_owned(),
                "call the column of times `t`, in seconds or dates; where samples are evenly spaced, add one that counts up",
            )),
        }
    }

    /// The names of its columns.
    pub fn headings(&self) -> impl Iterator<Item = &'a str> {
        self.heads.iter().map(|head| head.name)
    }

    /// The names of its columns that are neither the time nor among some places.
    pub fn unused(&self, used: &[usize]) -> Vec<String> {
        let is_time = |place: usize| matches!(self.clock, Clock::Column(time, _) | Clock::Both(time, ..) if time == place);
        let unused =
            |place: &usize| !used.contains(place) && !is_time(*place) && self.passed_over != Some(*place);
        let names = (0..self.heads.len()).filter(unused).map(|place| self.heads[place].name.to_owned());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// The names of its columns but for the time.
    pub fn others(&self) -> impl Iterator<Item = &'a str> {
        let is_time = |place: usize| matches!(self.clock, Clock::Column(time, _) | Clock::Both(time, ..) if time == place);
        self.heads.iter().enumerate().filter(move |(place, _)| !is_time(*place)).map(|(_, head)| head.name)
    }

    /// Whether a column is meant by a name.
    pub fn has(&self, name: &str) -> bool {
        self.heads.iter().any(|head| head.is(name))
    }

    /// How the numbers of a column that was asked for by a name become those in SI: by the model's unit where its
    /// heading has none.
    pub fn scale(&self, place: usize, name: &str, model: Option<&Unit>) -> Result<Scale, DataError> {
        self.heads[place].scale(name, model)
    }

    /// Finds a column whose numbers are taken as they stand.
    pub fn plain_place(&self, name: &str) -> Result<usize, DataError> {
        let place = self.place(name)?;
        self.heads[place].refuse_unit(name)?;
        Ok(place)
    }

    /// Finds a column by its heading.
    pub fn place(&self, name: &str) -> Result<usize, DataError> {
        let mut places = (0..self.heads.len()).filter(|place| self.heads[*place].is(name));
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(second)) => Err(self.heads[second].cell.error(
                format!("two columns are called `{name}`"),
                "rename one of them: a column that the model does not know is ignored",
            )),
            (None, _) => {
                let last = self.heads[self.heads.len() - 1].cell;
                let all = Cell {
                    text: &self.text[self.heads[0].cell.start..last.start + last.text.len()],
                    start: self.heads[0].cell.start,
                };
                let help = match closest(name, self.others()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add it; there are {}", self.headings().collect::<Vec<_>>().join(", ")),
                };
                let error = all.error(format!("there is no column `{name}`"), help);
                Err(DataError { code: code::MISSING_COLUMN, ..error })
            }
        }
    }

    /// Reads the columns at some places over time.
    pub fn read(&self, places: &[usize], gaps: Gaps) -> Result<Columns, DataError> {
        let passed_over = self.passed_over.map(|time| self.heads[time].name.to_owned());
        let values = vec![Vec::new(); places.len()];
        let mut columns = Columns { values, passed_over, ..Columns::default() };
        let mut origin: Option<Instant> = None;
        let mut last: Option<(f64, usize)> = None;
        // A spreadsheet leaves lines of commas at the end; they are blank unless something follows.
        let mut blank: Option<Line<'_>> = None;
        for line in lines(self.text).skip(1) {
            let cells = line.cells();
            if cells.iter().all(|cell| cell.text.is_empty()) {
                blank = blank.or(Some(line));
                continue;
            }
            if let Some(blank) = blank {
                return Err(blank.error(
                    format!("line {} is empty though numbers follow", blank.number),
                    "delete the line",
                ));
            }
            if cells.len() != self.heads.len() {
                return Err(line.error(
                    format!("line {} has {} cells under {} headings", line.number, cells.len(), self.heads.len()),
                    "write one number for each heading, with a decimal point: a decimal comma makes two cells",
                ));
            }
            let number = |place: usize| cells[place].number(self.heads[place].name, line.number);
            let t = match self.clock {
                Clock::Even(step) => columns.times.len() as f64 * step,
                Clock::Column(place, Written::Numbers(seconds))
                | Clock::Both(place, Written::Numbers(seconds), _) => number(place)? * seconds,
                Clock::Column(place, written) | Clock::Both(place, written, _) => {
                    let instant = cells[place].instant(written, self.heads[place].name, line.number)?;
                    if origin.is_none() {
                        columns.begins = Some(cells[place].text.to_owned());
                    }
                    instant.since(*origin.get_or_insert(instant))
                }
            };
            if let Clock::Both(place, _, step) = self.clock {
                let even = columns.times.first().unwrap_or(&t) + columns.times.len() as f64 * step;
                if (t - even).abs() > UNEVEN_TIME * step {
                    return Err(cells[place].error(
                        format!(
                            "line {}: the time is {t}, but by the sample time it would be {even}",
                            line.number
                        ),
                        "leave the sample time out, so that the column counts, or delete the column",
                    ));
                }
            }
            if let (Some((before, at)), Clock::Column(place, _)) =
                (last.filter(|(before, _)| t <= *before), self.clock)
            {
                return Err(cells[place].error(
                    match columns.begins {
                        Some(_) => {
                            let text = cells[place].text;
                            format!("line {}: the time {text} is not after that in line {at}", line.number)
                        }
                        None => {
                            format!("line {}: the time {t} is not after {before} in line {at}", line.number)
                        }
                    },
                    "sort the lines by time, and keep one line for each",
                ));
            }
            last = Some((t, line.number));
            columns.times.push(t);
            for (place, list) in places.iter().zip(&mut columns.values) {
                list.push(match gaps {
                    Gaps::Refused => number(*place)?,
                    Gaps::Kept => cells[*place].sample(self.heads[*place].name, line.number)?,
                });
            }
        }
        if columns.times.is_empty() {
            return Err(self.heads[0].cell.error(
                "there are headings, but no numbers".to_owned(),
                "write a line of numbers for each time",
            ));
        }
        Ok(columns)
    }
}

/// Bytes as text, or the error that they are none.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, DataError> {
    std::str::from_utf8(bytes).map_err(|_| {
        let place = Cell { text: "", start: 0 };
        place.error("the file is not UTF-8 text".to_owned(), "save it as CSV in UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, names: &[&str]) -> Result<Columns, DataError> {
        let csv = Csv::new(text)?;
        let places = names.iter().map(|name| csv.place(name)).collect::<Result<Vec<_>, _>>()?;
        csv.read(&places, Gaps::Refused)
    }

    #[test]
    fn samples_are_counted_and_may_be_missing() {
        let csv = Csv::open("u,y\n1,2\n3,\n5,NaN\n", None, Some(0.5)).unwrap();
        let columns = csv.read(&[0, 1], Gaps::Kept).unwrap();
        assert_eq!(columns.times, [0.0, 0.5, 1.0]);
        assert_eq!(columns.values[0], [1.0, 3.0, 5.0]);
        assert!(columns.values[1][0] == 2.0 && columns.values[1][1..].iter().all(|value| value.is_nan()));
        let named = |text, name| Csv::open(text, Some(name), None).and_then(|csv| csv.read(&[1], Gaps::Kept));
        assert_eq!(named("Zeit [ms],t\n1,2\n2,3\n", "Zeit").unwrap().times, [1e-3, 2e-3]);
        assert!(named("t,y\n1,2\n2,3\n", "Zeit").is_err());
        // Times beside a sample time agree with it, or are none.
        let timed =
            |text| Csv::open(text, None, Some(0.5)).unwrap().read(&[1], Gaps::Kept).map(|found| found.times);
        assert_eq!(timed("t,y\n3,2\n3.5,3\n4.001,5\n"), Ok(vec![3.0, 3.5, 4.001]));
        assert_eq!(timed("time,y\nmorning,2\nnoon,3\n"), Ok(vec![0.0, 0.5]));
        assert_eq!(timed("t,y\n12:00:00,2\n12:00:00.5,3\n"), Ok(vec![0.0, 0.5]));
        assert!(timed("time,y\n12:00,2\n12:01,3\n").unwrap_err().message.contains("the time is 60"));
        assert!(timed("t,y\n0,2\n1,3\n").unwrap_err().message.contains("by the sample time it would be 0.5"));
        let csv = Csv::open("u,y\n1,x\n", None, Some(0.5)).unwrap();
        assert!(csv.read(&[1], Gaps::Kept).is_err());
    }

    #[test]
    fn dates_and_time_stamps_are_counted_from_the_first() {
        let times = |text: &str| {
            let read = Csv::new(text).and_then(|csv| csv.read(&[1], Gaps::Kept)).unwrap();
            (read.times, read.begins)
        };
        for text in [
            "t,u\n2026-11-19 20:39:24,1\n2026-11-19 20:39:24.5,2\n2026-11-19T20:39:26Z,2\n",
            "time,u\n19.11.2026 23:59:59,1\n19.11.2026 23:59:59.5,2\n20.11.2026 00:00:01,3\n",
            "t,u\n20:39:24,1\n20:39:24.500,2\n20:39:26,3\n",
            "t,u\n1795120764.25,1\n1795120764.75,2\n1795120766.25,3\n",
            "t [ms],u\n1795120764250,1\n1795120764750,2\n1795120766250,3\n",
        ] {
            let (times, begins) = times(text);
            assert_eq!(times, [0.0, 0.5, 2.0], "{text}");
            assert_eq!(begins.as_deref(), text.lines().nth(1).and_then(|line| line.split(',').next()));
        }
        assert_eq!(times("t,u\n5,1\n6,2\n"), (vec![5.0, 6.0], None));
        let wrong =
            |text: &str| Csv::new(text).and_then(|csv| csv.read(&[1], Gaps::Kept)).unwrap_err().message;
        assert!(wrong("t,u\n23:59,1\n00:01,2\n").contains("line 3: the time 00:01 is not after"));
        assert!(wrong("t,u\n2026-11-19,1\n5,2\n").contains("no time as those above"));
        let passed = Csv::open("t,u\na,1\nb,2\n", None, Some(0.5)).unwrap().read(&[1], Gaps::Kept).unwrap();
        assert_eq!(passed.passed_over.as_deref(), Some("t"));
    }

    #[test]
    fn what_spreadsheets_write_is_read() {
        let wanted = Columns { times: vec![0.0, 0.5], values: vec![vec![3.0, -4e-3]], ..Columns::default() };
        for text in [
            "t,u\n0,3\n0.5,-4e-3\n",
            "\u{feff}t,u\r\n0,3\r\n0.5,-4e-3\r\n\r\n\r\n",
            "note,t,\"u\",\nfirst,0,3,\n,0.5,\"-4e-3\",\n,,,\n,,,\n",
            "# measured\n u , Time \n 3 , 0 \n\n -4e-3 , 0.5 \n# stopped at t = 0.5",
            "t,\"a, b\",u\n0,\"x, y\",3\n0.5,nan,-4e-3",
            "t,T,u\n0,9,3\n0.5,9,-4e-3\n",
        ] {
            assert_eq!(read(text, &["u"]), Ok(wanted.clone()), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        for (text, shown, words) in [
            ("", "", "empty"),
            ("\n\n# words\n", "", "empty"),
            ("t;u\n0;1\n", "t;u", "semicolons"),
            ("t\tu\n0\t1\n", "t\tu", "tabs"),
            ("0,1\n1,2\n", "0,1", "headings"),
            ("x,u\n0,1\n", "x,u", "`t`"),
            ("t,v\n0,1\n", "t,v", "there is no column `u`"),
            ("t,u,u\n0,1,1\n", "u", "two columns"),
            ("t,u\n", "t", "no numbers"),
            ("t,u\n0,1\n1,2,3\n", "1,2,3", "line 3 has 3 cells under 2 headings"),
            ("t,u\n0,1\n1\n", "1", "line 3 has 1 cells"),
            ("t,u\n0,1\n1,\n", "", "nothing in column `u`"),
            ("t,u\n0,1\n1,NaN\n", "NaN", "no finite number"),
            ("t,u\n0,1\ninf,1\n", "inf", "no finite number"),
            ("t,u\n0,1\n1,\"2,5\"\n", "2,5", "no number"),
            ("t,u\n0,1\n1,2 V\n", "2 V", "no number"),
            ("t,u\n0,1\n\n0,2\n", "0", "line 4: the time 0 is not after 0 in line 2"),
            ("t,u\n0,1\n2,1\n1,2\n", "1", "line 4: the time 1 is not after 2 in line 3"),
            ("t,u\n0,1\n,,\n,\n1,2\n", ",,", "line 3 is empty"),
        ] {
            let error = read(text, &["u"]).unwrap_err();
            assert_eq!(&text[error.start..error.end], shown, "{text:?}: {}", error.message);
            assert!(error.message.contains(words), "{text:?}: {}", error.message);
            assert!(!error.help.is_empty());
        }
        assert!(decode(b"\xff\xfet\0").is_err());
    }
}
