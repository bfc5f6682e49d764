//! What to do about something, as data: words with references to options and
//! to questions, which each edge spells in its own way (`--terms N` on the
//! command line, `terms=N` in Python, a button on a page).

/// What to do, in words that refer to options and questions.
///
/// Strings become plain words as they are; [`Remedy::marked`] reads references
/// from a constant text, and [`Remedy::option`] and [`Remedy::and`] add what is
/// known only later.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remedy {
    parts: Vec<Part>,
}

/// A part of a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words, the same everywhere.
    Words(String),
    /// An option of the question at hand.
    Option(Argument),
    /// Another question.
    Question(Question),
}

/// An option or another argument of a question, by its name, with a value where one is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name, with `_` between words.
    pub name: String,
    /// A value, or a word that stands for one.
    pub value: Option<String>,
}

/// A question that a model, or the library, can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its name, with `_` between words.
    pub name: String,
    /// What to ask it with.
    pub arguments: Vec<Argument>,
}

/// How an edge spells options and questions, with the quotes that set them apart from words.
pub trait Spelling: std::fmt::Debug + Send + Sync {
    /// Spells an option of the question at hand.
    fn option(&self, option: &Argument) -> String;

    /// Spells another question.
    fn question(&self, question: &Question) -> String;
}

/// The spelling of the library itself, which names options and questions without a syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Plain;

impl Spelling for Plain {
    fn option(&self, option: &Argument) -> String {
        format!("the option `{}`", assigned(option))
    }

    fn question(&self, question: &Question) -> String {
        let arguments: Vec<String> = question.arguments.iter().map(assigned).collect();
        let with = if arguments.is_empty() { "" } else { " with `" };
        let end = if arguments.is_empty() { "" } else { "`" };
        format!("the question `{}`{with}{}{end}", question.name, arguments.join("`, `"))
    }
}

/// An argument as `name` or `name=value`.
fn assigned(argument: &Argument) -> String {
    match &argument.value {
        Some(value) => format!("{}={value}", argument.name),
        None => argument.name.clone(),
    }
}

impl Argument {
    /// Reads `name` or `name=value`.
    fn read(text: &str) -> Argument {
        match text.split_once('=') {
            Some((name, value)) => Argument { name: name.to_owned(), value: Some(value.to_owned()) },
            None => Argument { name: text.to_owned(), value: None },
        }
    }
}

impl Question {
    /// Reads `name argument argument=value …`.
    pub fn read(text: &'static str) -> Question {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        Question { name, arguments: words.map(Argument::read).collect() }
    }
}

impl Remedy {
    /// Reads references in a constant text: `{option frozen}`, `{option terms=N}`, `{ask bode}`,
    /// `{ask simulate t_end=10}`. Other braces are words.
    pub fn marked(text: &'static str) -> Remedy {
        let mut parts = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            words.push_str(before);
            let Some((part, length)) = reference(after) else {
                words.push('{');
                rest = &after[1..];
                continue;
            };
            if !words.is_empty() {
                parts.push(Part::Words(std::mem::take(&mut words)));
            }
            parts.push(part);
            rest = &after[length..];
        }
        words.push_str(rest);
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
        Remedy { parts }
    }

    /// Adds an option with its value.
    #[must_use]
    pub fn option(mut self, name: &'static str, value: impl Into<String>) -> Remedy {
        self.parts.push(Part::Option(Argument { name: name.to_owned(), value: Some(value.into()) }));
        self
    }

    /// Adds words, or another remedy.
    #[must_use]
    pub fn and(mut self, more: impl Into<Remedy>) -> Remedy {
        self.parts.extend(more.into().parts);
        self
    }

    /// The words and references in their order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Writes it as an edge spells options and questions.
    pub fn spelled(&self, spelling: &dyn Spelling) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Words(words) => out.push_str(words),
                Part::Option(option) => out.push_str(&spelling.option(option)),
                Part::Question(question) => out.push_str(&spelling.question(question)),
            }
        }
        out
    }
}

/// Reads the reference at the beginning of a text, with its length.
fn reference(text: &'static str) -> Option<(Part, usize)> {
    let inside = text.strip_prefix('{')?;
    let end = inside.find('}')?;
    let (kind, what) = inside[..end].split_once(' ')?;
    let part = match kind {
        "option" => Part::Option(Argument::read(what)),
        "ask" => Part::Question(Question::read(what)),
        _ => return None,
    };
    Some((part, end + 2))
}

/// Written as the library itself spells it, where no edge says otherwise.
impl std::fmt::Display for Remedy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spelled(&Plain))
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Remedy {
        Remedy { parts: vec![Part::Words(words)] }
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Remedy {
        words.to_owned().into()
    }
}

impl From<Question> for Remedy {
    fn from(question: Question) -> Remedy {
        Remedy { parts: vec![Part::Question(question)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows references so that nothing else looks like them.
    #[derive(Debug)]
    struct Marks;

    impl Spelling for Marks {
        fn option(&self, option: &Argument) -> String {
            format!("<{}|{}>", option.name, option.value.as_deref().unwrap_or("-"))
        }

        fn question(&self, question: &Question) -> String {
            let arguments: String = question.arguments.iter().map(|a| self.option(a)).collect();
            format!("[{}{arguments}]", question.name)
        }
    }

    fn shown(text: &'static str) -> String {
        Remedy::marked(text).spelled(&Marks)
    }

    #[test]
    fn references_are_read_between_words() {
        assert_eq!(shown("close it"), "close it");
        assert_eq!(shown("ask with {option frozen}"), "ask with <frozen|->");
        assert_eq!(shown("{option terms=N}, or {ask bode}."), "<terms|N>, or [bode].");
        assert_eq!(shown("{option set=Ra=2.5 [ohm]}"), "<set|Ra=2.5 [ohm]>");
        assert_eq!(shown("{ask simulate t_end=10 plot}"), "[simulate<t_end|10><plot|->]");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn other_braces_are_words() {
        for text in ["write `model NAME { … }`", "{\"NAME\": [x, y]}", "{", "}{", "{option", "{é}", "{{ask x"]
        {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("{{ask x}"), "{[x]");
    }

    #[test]
    fn names_of_a_model_are_never_read_as_references() {
        let name = "{option set=x}".to_owned();
        assert_eq!(Remedy::from(name.clone()).spelled(&Marks), name);
        let remedy = Remedy::from("as in ").option("set", format!("{name}=2")).and(format!(" with {name}"));
        assert_eq!(remedy.spelled(&Marks), "as in <set|{option set=x}=2> with {option set=x}");
    }

    #[test]
    fn the_library_spells_in_words() {
        let text = "{option terms=N}, {option frozen}, {ask bode}, {ask simulate t_end=10 plot}";
        assert_eq!(
            Remedy::marked(text).to_string(),
            "the option `terms=N`, the option `frozen`, the question `bode`, \
             the question `simulate` with `t_end=10`, `plot`"
        );
    }
}
