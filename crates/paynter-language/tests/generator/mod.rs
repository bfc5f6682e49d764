//! Random model files without mistakes, from a list of choices: every kind of
//! statement, with odd spaces, line breaks and comments wherever they may stand.

struct Generator<'a> {
    choices: std::slice::Iter<'a, u8>,
    out: String,
    depth: usize,
    /// Open brackets, within which lines may break.
    brackets: usize,
}

/// Writes the model file that the choices stand for.
pub fn model_file(choices: &[u8]) -> String {
    let mut generator = Generator { choices: choices.iter(), out: String::new(), depth: 0, brackets: 0 };
    generator.blank();
    while generator.pick(4) == 1 {
        generator.words(&["import", "\"part.bg\""]);
        generator.end();
    }
    loop {
        generator.model();
        generator.end();
        if generator.choices.len() == 0 {
            return generator.out;
        }
    }
}

impl Generator<'_> {
    /// One of `n` choices, the first when none is left.
    fn pick(&mut self, n: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % n)
    }

    fn one(&mut self, options: &[&str]) {
        let choice = self.pick(options.len() as u8);
        self.out.push_str(options[choice as usize]);
    }

    /// Space that may be left out.
    fn gap(&mut self) {
        if self.brackets > 0 && self.pick(12) == 1 {
            return self.one(&["\n", "  // inside\n  ", "\r\n\t"]);
        }
        self.one(&["", " ", "", " ", "   ", "\t"]);
    }

    /// Space that must be there.
    fn space(&mut self) {
        self.one(&[" ", " ", "  ", " \t"]);
    }

    /// Space after an operator, a comma or an arrow, where a line may break.
    fn joint(&mut self) {
        self.one(&["", " ", " ", "  ", "\n  ", " // joint\n", "\n\n"]);
    }

    fn words(&mut self, words: &[&str]) {
        for (k, word) in words.iter().enumerate() {
            if k > 0 {
                self.space();
            }
            self.out.push_str(word);
        }
    }

    fn name(&mut self) {
        self.one(&["a", "b2", "R", "C", "ω_m", "param", "k₁", "long_name", "in", "x"]);
    }

    fn blank(&mut self) {
        self.one(&["", "", "\n", "\n\n\n", "// between\n", "\u{FEFF}", "  "]);
    }

    /// The end of a statement within a file or a block.
    fn end(&mut self) {
        self.one(&[
            "\n",
            "\n",
            "\n",
            ";\n",
            " // end\n",
            "; ",
            "\n\n\n",
            "\r\n",
            "\n// line\n",
            ";\n // after \n\n",
        ]);
    }

    fn model(&mut self) {
        self.words(&["model", "m"]);
        if self.pick(3) == 1 {
            self.gap();
            self.bracket("(", ")", |g| {
                g.list(|g| {
                    if g.pick(2) == 1 {
                        g.out.push_str("param ");
                    }
                    g.parameter();
                });
            });
        }
        self.doc();
        self.block();
    }

    fn block(&mut self) {
        self.gap_here();
        self.out.push('{');
        let brackets = std::mem::take(&mut self.brackets);
        self.one(&["\n", "\n", " ", "", " // open\n", "\n\n// first\n"]);
        self.depth += 1;
        for _ in 0..self.pick(7) {
            self.statement();
            self.end();
        }
        self.depth -= 1;
        self.out.push('}');
        self.brackets = brackets;
    }

    /// Space that may be left out, without a line break.
    fn gap_here(&mut self) {
        self.one(&["", " ", "  "]);
    }

    fn doc(&mut self) {
        if self.pick(4) == 1 {
            self.gap_here();
            self.one(&["\"text\"", "\"a // no comment; [m]\"", "\"\""]);
        }
    }

    fn statement(&mut self) {
        match self.pick(12) {
            0 => {
                self.words(&["param", ""]);
                self.name();
                self.definition();
                self.clauses();
            }
            1 => {
                self.one(&["input ", "output ", "signal\t"]);
                self.name();
                self.definition();
                self.unit();
                self.doc();
            }
            2..=4 => self.element(),
            5 | 6 => self.bonds(),
            7 => {
                self.words(&["init", ""]);
                self.path();
                self.definition();
            }
            8 => {
                self.words(&["port", "p"]);
                if self.pick(2) == 1 {
                    self.gap_here();
                    self.bracket("[", "]", |g| g.out.push_str("thermal"));
                }
            }
            9 => self.instance(),
            10 if self.depth < 4 => {
                self.words(&["for", "i", "in", ""]);
                self.range();
                self.block();
            }
            10 => self.words(&["prefer", "integral", "c[2].m"]),
            _ => {
                self.words(&["causality", ""]);
                self.path();
                self.words(&["", "effort_into", ""]);
                self.path();
            }
        }
    }

    fn parameter(&mut self) {
        self.one(&["m", "k", "stiffness"]);
        if self.pick(3) > 0 {
            self.definition();
        }
        self.clauses();
    }

    fn clauses(&mut self) {
        self.unit();
        if self.pick(3) == 1 {
            self.gap_here();
            self.one(&["±", "+-"]);
            self.joint();
            self.one(&["10", "0.2", "(a+b)"]);
            self.one(&["", "%", " %"]);
        }
        if self.pick(3) == 1 {
            self.out.push_str(" in");
            self.gap_here();
            self.bracket("[", "]", |g| {
                g.expression();
                g.comma();
                g.expression();
            });
        }
        self.doc();
    }

    fn definition(&mut self) {
        self.gap_here();
        self.out.push('=');
        self.joint();
        self.expression();
    }

    fn unit(&mut self) {
        if self.pick(2) == 1 {
            self.space();
            self.bracket("[", "]", |g| {
                g.one(&["kg", "N*m / rad", "m^2", "m²", "1 / s", "J/(kg*K)", "m ^ (1/2)", "s^ -1", "%"]);
            });
        }
    }

    fn element(&mut self) {
        self.one(&["Se", "MSf", "R", "C", "I", "TF", "0", "1", "De", "RS"]);
        self.space();
        self.name();
        match self.pick(6) {
            0 | 1 => self.definition(),
            2 => {
                self.bracket("[", "]", |g| g.out.push('2'));
                self.gap_here();
                self.out.push('=');
                self.joint();
                self.bracket("[", "]", |g| {
                    g.list(|g| g.bracket("[", "]", |g| g.list(Generator::expression)));
                });
            }
            3 => self.laws(),
            4 => {
                self.out.push_str(" when ");
                self.bracket("(", ")", Generator::expression);
                self.laws();
            }
            _ => {}
        }
        self.doc();
    }

    fn laws(&mut self) {
        self.gap_here();
        self.out.push('{');
        self.one(&["\n", " ", "", " // laws\n"]);
        for _ in 0..self.pick(4) {
            if self.pick(3) == 1 {
                self.words(&["init", "q"]);
                self.definition();
            } else {
                self.expression();
                self.definition();
            }
            self.end();
        }
        self.out.push('}');
    }

    fn bonds(&mut self) {
        for stage in 0..2 + self.pick(2) {
            if stage > 0 {
                self.gap_here();
                self.out.push_str("->");
                self.joint();
            }
            self.list(Generator::path);
        }
        if self.pick(4) == 1 {
            self.words(&["", "as", "main"]);
        }
    }

    fn instance(&mut self) {
        self.words(&["use", "cell", "c"]);
        if self.pick(2) == 1 {
            self.bracket("[", "]", Generator::range);
        }
        if self.pick(2) == 1 {
            self.gap_here();
            self.bracket("(", ")", |g| {
                g.list(|g| {
                    g.name();
                    g.gap();
                    g.out.push('=');
                    g.joint();
                    g.expression();
                });
            });
        }
    }

    fn range(&mut self) {
        self.expression();
        self.gap_here();
        self.out.push_str("..");
        self.joint();
        self.expression();
    }

    fn bracket(&mut self, open: &str, close: &str, inner: impl Fn(&mut Self)) {
        self.out.push_str(open);
        self.brackets += 1;
        self.gap();
        inner(self);
        self.gap();
        self.brackets -= 1;
        self.out.push_str(close);
    }

    fn comma(&mut self) {
        self.gap();
        self.out.push(',');
        self.joint();
    }

    fn list(&mut self, item: impl Fn(&mut Self)) {
        item(self);
        while self.pick(3) == 1 {
            self.comma();
            item(self);
        }
    }

    fn path(&mut self) {
        self.one(&["a", "motor.rotor", "tf.1", "c[i+1].left", "c[ 3 ] . m.p", "R"]);
    }

    fn expression(&mut self) {
        self.depth += 1;
        match if self.depth > 7 { 0 } else { self.pick(10) } {
            0 => self.one(&["1", "0.5", "2e-3", "12E+5"]),
            1 | 2 => self.one(&["a", "coil.f", "c[3].m.p", "ω", "Ω", "C"]),
            3 => {
                self.one(&["-", "- ", "not ", "-\n"]);
                self.expression();
            }
            4 => {
                self.out.push('f');
                self.gap_here();
                self.bracket("(", ")", |g| g.list(Generator::expression));
            }
            5 => self.bracket("(", ")", Generator::expression),
            6 => {
                self.bracket("(", ")", Generator::expression);
                self.one(&["²", " ³", "⁻¹"]);
            }
            7 => {
                // Comparisons do not chain, so both sides stand in parentheses.
                self.bracket("(", ")", Generator::expression);
                self.gap();
                self.one(&["<", "<=", "==", "!=", ">", ">="]);
                self.joint();
                self.bracket("(", ")", Generator::expression);
                self.close_comparison();
            }
            _ => {
                self.bracket("(", ")", Generator::expression);
                self.gap();
                self.one(&["+ ", "-", "*", "/", "^", " and ", " or ", " - "]);
                self.joint();
                self.expression();
            }
        }
        self.depth -= 1;
    }

    /// Ends a comparison so that no other can follow it.
    fn close_comparison(&mut self) {
        self.one(&[" and ", " or "]);
        self.bracket("(", ")", Generator::expression);
    }
}
