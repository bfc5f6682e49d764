//! Source files and places in them.

/// Identifies one file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span from byte offsets.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Returns the smallest span that holds both; spans of other files are left out.
    pub fn cover(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span::new(self.file, self.start.min(other.start), self.end.max(other.end))
    }
}

/// A place for people: both count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One source file: its path as the user wrote it, and its text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path relative to the model's folder tree, or `<stdin>`.
    pub path: String,
    /// The text, as it was read.
    pub text: String,
    line_starts: Vec<u32>,
}

impl Source {
    /// Holds a text and finds its lines.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        Source { path: path.into(), text, line_starts }
    }

    /// Finds the line and column of a byte offset (clamped to the text).
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|&start| start as usize <= offset);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0) as usize;
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        LineColumn { line: line as u32, column: column as u32 + 1 }
    }
}

/// All files of one model, the root first.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Makes an empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file.
    pub fn add(&mut self, source: Source) -> FileId {
        self.files.push(source);
        FileId(self.files.len() as u32 - 1)
    }

    /// Finds a file.
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    /// Lists all files with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(i, s)| (FileId(i as u32), s))
    }

    /// Renames every file, so that paths read as the user would write them.
    pub fn rename(&mut self, shown: impl Fn(&str) -> String) {
        for file in &mut self.files {
            file.path = shown(&file.path);
        }
    }

    /// The text a span covers, empty where it does not fit.
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file).and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}
