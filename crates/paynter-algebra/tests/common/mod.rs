//! A small parser for the plain text notation, so that tests read like formulas.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use paynter_algebra::{Cmp, Expr, Func, Pool};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

/// Chooses the same cases in every run, unless PROPTEST_CASES asks for a search with other ones.
pub fn cases() -> ProptestConfig {
    let search = std::env::var_os("PROPTEST_CASES").is_some();
    let rng_seed = if search { RngSeed::Random } else { RngSeed::Fixed(2002) };
    ProptestConfig { failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

/// Parses an expression; panics on a mistake in the test.
pub fn parse(pool: &mut Pool, text: &str) -> Expr {
    let mut parser = Parser { pool, text: text.as_bytes(), at: 0 };
    let e = parser.or();
    parser.space();
    assert!(parser.at == text.len(), "cannot read {text:?} from {}", parser.at);
    e
}

/// Parses an equation `left = right` or an expression into its residual.
pub fn residual(pool: &mut Pool, law: &str) -> Expr {
    match law.split_once(" = ") {
        Some((left, right)) => {
            let (left, right) = (parse(pool, left), parse(pool, right));
            pool.sub(left, right)
        }
        None => parse(pool, law),
    }
}

struct Parser<'a> {
    pool: &'a mut Pool,
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    fn or(&mut self) -> Expr {
        let mut a = self.and();
        while self.eat("or ") {
            let b = self.and();
            a = self.pool.or(a, b);
        }
        a
    }

    fn and(&mut self) -> Expr {
        let mut a = self.not();
        while self.eat("and ") {
            let b = self.not();
            a = self.pool.and(a, b);
        }
        a
    }

    fn not(&mut self) -> Expr {
        if self.eat("not ") {
            let a = self.not();
            return self.pool.not(a);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Expr {
        let a = self.sum();
        let operators = [
            ("<=", Cmp::Le),
            (">=", Cmp::Ge),
            ("==", Cmp::Eq),
            ("!=", Cmp::Ne),
            ("<", Cmp::Lt),
            (">", Cmp::Gt),
        ];
        for (token, op) in operators {
            if self.eat(token) {
                let b = self.sum();
                return self.pool.compare(op, a, b);
            }
        }
        a
    }

    fn sum(&mut self) -> Expr {
        let mut a = self.product();
        loop {
            if self.eat("+") {
                let b = self.product();
                a = self.pool.add(a, b);
            } else if self.eat("-") {
                let b = self.product();
                a = self.pool.sub(a, b);
            } else {
                return a;
            }
        }
    }

    fn product(&mut self) -> Expr {
        let mut a = self.unary();
        loop {
            if self.eat("*") {
                let b = self.unary();
                a = self.pool.mul(a, b);
            } else if self.eat("/") {
                let b = self.unary();
                a = self.pool.div(a, b);
            } else {
                return a;
            }
        }
    }

    fn unary(&mut self) -> Expr {
        if self.eat("-") {
            let a = self.unary();
            return self.pool.neg(a);
        }
        let base = self.atom();
        if self.eat("^") {
            let exponent = self.unary();
            return self.pool.pow(base, exponent);
        }
        base
    }

    fn atom(&mut self) -> Expr {
        if self.eat("(") {
            let a = self.or();
            assert!(self.eat(")"), "missing )");
            return a;
        }
        self.space();
        let start = self.at;
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 128;
        while self.at < self.text.len() && word(self.text[self.at]) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap().to_owned();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.pool.decimal(&word).unwrap();
        }
        match word.as_str() {
            "pi" => return self.pool.pi(),
            "true" => return self.pool.truth(true),
            "false" => return self.pool.truth(false),
            _ => {}
        }
        if self.eat("(") {
            let mut args = vec![self.or()];
            while self.eat(",") {
                args.push(self.or());
            }
            assert!(self.eat(")"), "missing )");
            if word == "if" {
                return self.pool.select(args[0], args[1], args[2]);
            }
            let f = Func::from_name(&word).unwrap_or_else(|| panic!("no function {word:?}"));
            return self.pool.call(f, &args);
        }
        assert!(!word.is_empty(), "nothing at {start}");
        let s = self.pool.symbol(&word);
        self.pool.var(s)
    }
}
