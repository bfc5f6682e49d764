//! Unknowns and modes that determine each other, found all at once.
//!
//! Where laws with jumps stand in algebraic loops, every mode μ belongs to its
//! event function h after Filippov: μ = 1 where h > 0, μ = −1 where h < 0, and
//! any value between where h = 0. Instead of trying modes one after another,
//! μ·√(h² + ε²) = h is solved together with the loops, from a width ε at which
//! nothing jumps down to one that rounding hardly sees. On the way roots with
//! a sign are rounded off within a width that shrinks alike.

use super::{Loop, System, Trouble};

/// The widths go from this part of what they are compared with down to that one.
const WIDEST: f64 = 1e3;
const FINEST: f64 = 1e-10;
/// By this factor the width shrinks at a time, or by a root of it where that is too much.
const SHRINK: f64 = 0.1;
/// So many times the root is taken.
const ROOTS: i32 = 5;
/// By this factor roots are sharpened afterwards.
const SHARPEN: f64 = 1e-6;
/// A mode closer to 1 than this belongs to a function that is not zero.
const OUTSIDE: f64 = 1e-7;
/// Turns of Newton's method at each width, and the part of the width its equation is solved to.
const TURNS: u32 = 40;
const CLOSE: f64 = 1e-2;
/// What remains of residuals, beside their terms.
const REMAINS: f64 = 1e-8;

/// Surfaces whose modes are looked for, and roots that are rounded off meanwhile.
struct Homotopy {
    /// The surfaces, each with the size of its function.
    surfaces: Vec<(usize, f64)>,
    /// The size of what each root is taken of.
    bases: Vec<f64>,
    /// Modes that follow their functions.
    bends: Vec<usize>,
    /// The number of equations that take part, and the places of their derivatives.
    size: usize,
    places: Vec<(usize, usize)>,
}

impl System<'_> {
    /// Finds unknowns and modes that fit each other at a time and state. Surfaces whose functions react to
    /// their modes at once take part, those along which the motion slides, and those of `zeros`, whose
    /// functions are zero here; other modes follow their functions, but for those that are given. All is
    /// as before where no solution is found.
    pub fn complement(&mut self, t: f64, x: &[f64], zeros: &[usize], given: &[usize]) -> Result<(), Trouble> {
        let mut result = Err(Trouble::NoSolution(0));
        if self.own.surfaces.is_empty() && self.own.roundings.is_empty() {
            return result;
        }
        let (snapshot, present) = (self.snapshot(), self.fast.clone());
        let known = self.own.unknowns.len();
        // From what is known first, as far as it is known.
        let mut guesses = vec![present[1 + x.len()..][..known].to_vec()];
        guesses.extend(Self::guesses(known));
        for guess in guesses {
            result = self.approach(t, x, (zeros, given), &guess);
            if result.is_ok() {
                return Ok(());
            }
            self.restore(&snapshot);
        }
        self.fast = present;
        result
    }

    /// Follows the solution from wide jumps to narrow ones, and sets modes and surfaces accordingly.
    fn approach(
        &mut self,
        t: f64,
        x: &[f64],
        (zeros, given): (&[usize], &[usize]),
        guess: &[f64],
    ) -> Result<(), Trouble> {
        let (surfaces, known) = (self.surfaces(), self.own.unknowns.len());
        let mut sliding = self.sliding.clone();
        for (surface, rate) in surfaces.iter().zip(&mut sliding) {
            let at_zero = zeros.contains(&surface.relation) && surface.excluded.is_empty();
            if *rate == 0.0 && (surface.order == 0 || at_zero) {
                *rate = 1.0;
            }
        }
        let widths = self.slow[self.widths()..][..self.model.roundings.len()].to_vec();
        self.move_to(sliding.clone());
        self.fast[0] = t;
        self.fast[1..=x.len()].copy_from_slice(x);
        self.fast[1 + x.len()..].fill(0.0);
        self.fast[1 + x.len()..][..known].copy_from_slice(guess);
        let chosen: Vec<usize> = (0..surfaces.len()).filter(|j| sliding[*j] > 0.0).collect();
        chosen.iter().for_each(|j| self.set_mode(surfaces[*j].relation, 0.0));
        // Rates of unknowns matter only where a function has to stay zero through them.
        let rates = chosen.iter().any(|j| surfaces[*j].order > 0);
        let size =
            if rates || chosen.is_empty() { self.model.unknowns.len() } else { known + surfaces.len() };
        let mut places = self.model.residual_places.clone();
        places.extend(chosen.iter().map(|j| (known + j, known + j)));
        places.retain(|(row, column)| *row < size && *column < size);
        places.sort_unstable();
        places.dedup();
        // Events of time alone have happened or not, unless nothing is known yet.
        let follows = |k: &usize| {
            let told = given.contains(k) || (self.own.timed[*k] && self.held[*k] != 0.0);
            !told && !chosen.iter().any(|j| surfaces[*j].relation == *k)
        };
        let bends = (0..self.own.events.len()).filter(follows).collect();
        let bases = vec![1.0; widths.len()];
        let surfaces = chosen.iter().map(|j| (*j, 0.0)).collect();
        let mut homotopy = Homotopy { surfaces, bases, bends, size, places };
        // Without jumps first: all modes are zero.
        self.narrow(&homotopy, None)?;
        self.measure(&mut homotopy);
        let (mut width, mut root) = (WIDEST, 0);
        while width > FINEST {
            let kept = self.fast.clone();
            let next = (width * SHRINK.powf(0.5f64.powi(root))).max(FINEST);
            match self.narrow(&homotopy, Some(next)) {
                Ok(()) => (width, root) = (next, (root - 1).max(0)),
                Err(trouble) if root == ROOTS => return Err(trouble),
                Err(_) => {
                    self.fast = kept;
                    root += 1;
                }
            }
        }
        self.conclude(&homotopy, &widths, sliding)
    }

    /// Takes modes that are close to 1 or −1 for that, and solves the equations as they are.
    fn conclude(
        &mut self,
        homotopy: &Homotopy,
        widths: &[f64],
        mut sliding: Vec<f64>,
    ) -> Result<(), Trouble> {
        let surfaces = self.surfaces();
        for (j, _) in &homotopy.surfaces {
            let mode = self.between(*j);
            self.set_mode(surfaces[*j].relation, if mode < 0.0 { -1.0 } else { 1.0 });
            if mode.abs() > 1.0 - OUTSIDE {
                sliding[*j] = 0.0;
            }
        }
        self.move_to(sliding);
        self.prepare();
        let mut share = FINEST;
        loop {
            let sharpened: Vec<f64> =
                homotopy.bases.iter().zip(widths).map(|(base, width)| (share * base).max(*width)).collect();
            self.set_widths(&sharpened);
            self.solve_unknowns()?;
            if sharpened == widths {
                break;
            }
            share *= SHARPEN;
        }
        let left = self.residual();
        // A mode that nothing depends on here is not determined.
        let m = self.model.unknowns.len();
        self.unknowns.factorise(self.newton[m..].iter().copied());
        let mut change = vec![1.0; m];
        self.unknowns.solve(&mut change);
        let undetermined = change.iter().any(|v| !v.is_finite());
        let mut now = self.functions();
        self.set_back(&mut now);
        let told = homotopy.surfaces.iter().map(|(j, _)| surfaces[*j].relation);
        let wrong =
            told.chain(homotopy.bends.iter().copied()).any(|k| !self.kept[k] && now[k] * self.held[k] < 0.0);
        let outside =
            (0..surfaces.len()).any(|j| self.slides_along(j) && self.between(j).abs() > 1.0 + OUTSIDE);
        if wrong || outside || undetermined || left > REMAINS * self.terms().max(f64::MIN_POSITIVE) {
            return Err(Trouble::NoSolution(0));
        }
        Ok(())
    }

    fn set_widths(&mut self, widths: &[f64]) {
        let start = self.widths();
        self.slow[start..start + widths.len()].copy_from_slice(widths);
        self.prepare();
    }

    /// How large functions and bases are, now that nothing jumps: their values, or what a jump would make of them.
    fn measure(&mut self, homotopy: &mut Homotopy) {
        let known = self.own.unknowns.len();
        let m = self.model.unknowns.len();
        let (_, mut matrix) = self.softened(homotopy, None);
        let mut sizes = vec![0.0f64; homotopy.surfaces.len()];
        for (j, _) in &homotopy.surfaces {
            let mut change = vec![0.0; homotopy.size];
            change[known + j] = 1.0;
            matrix.solve(&mut change);
            for (size, (other, _)) in sizes.iter_mut().zip(&homotopy.surfaces) {
                let slopes = self.model.residual_places.iter().zip(&self.newton[m..]);
                let own =
                    slopes.filter(|((row, column), _)| *row == known + other && *column < homotopy.size);
                let by: f64 = own.map(|((_, column), slope)| slope * change[*column]).sum();
                *size = size.max(by.abs()).max(self.newton[known + other].abs());
            }
        }
        let usable = |size: f64| if size > 0.0 && size.is_finite() { size } else { 1.0 };
        for ((_, size), found) in homotopy.surfaces.iter_mut().zip(sizes) {
            *size = usable(found);
        }
        let now = self.functions();
        for (base, rounding) in homotopy.bases.iter_mut().zip(&self.model.roundings) {
            *base = usable(now[rounding.relation].abs());
        }
    }

    /// The equations with jumps of a width, or none at all, and the matrix of their derivatives.
    fn softened(&mut self, homotopy: &Homotopy, width: Option<f64>) -> (Vec<f64>, Loop) {
        let now = self.functions();
        let turned: Vec<usize> = homotopy
            .bends
            .iter()
            .copied()
            .filter(|k| now[*k] * self.held[*k] <= 0.0 && now[*k] != 0.0)
            .collect();
        if !turned.is_empty() {
            turned.iter().for_each(|k| self.set_mode(*k, now[*k].signum()));
            self.prepare();
        }
        self.residual();
        let (known, m) = (self.own.unknowns.len(), self.model.unknowns.len());
        let modes = 1 + self.model.states.len();
        let mut values = self.newton[..homotopy.size].to_vec();
        // By how much each row counts, and its derivative by the mode of its own.
        let mut factors = vec![(1.0, 0.0); homotopy.size];
        for (j, scale) in &homotopy.surfaces {
            let row = known + j;
            let (mode, value) = (self.fast[modes + row], values[row] / scale);
            (values[row], factors[row]) = match width {
                Some(width) => {
                    let size = value.hypot(width);
                    (mode * size - value, ((mode * value / size - 1.0) / scale, size))
                }
                None => (mode, (0.0, 1.0)),
            };
        }
        let slopes: Vec<((usize, usize), f64)> =
            self.model.residual_places.iter().copied().zip(self.newton[m..].iter().copied()).collect();
        let entry = |place: &(usize, usize)| {
            let found = slopes.binary_search_by_key(place, |(place, _)| *place);
            let slope = found.map_or(0.0, |i| slopes[i].1);
            let (factor, own) = factors[place.0];
            let scaled = if factor == 0.0 { 0.0 } else { factor * slope };
            scaled + if place.0 == place.1 { own } else { 0.0 }
        };
        let mut matrix = Loop::new(homotopy.size, &homotopy.places);
        matrix.factorise(homotopy.places.iter().map(entry));
        (values, matrix)
    }

    /// Newton's method for jumps of a width.
    fn narrow(&mut self, homotopy: &Homotopy, width: Option<f64>) -> Result<(), Trouble> {
        let share = width.unwrap_or(1.0).min(1.0);
        let widths: Vec<f64> = homotopy.bases.iter().map(|base| share * base).collect();
        self.set_widths(&widths);
        let start = 1 + self.model.states.len();
        let end = start + homotopy.size;
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let known = self.own.unknowns.len();
        let (mut values, mut matrix) = self.softened(homotopy, width);
        for _ in 0..TURNS {
            let size = norm(&values);
            if size == 0.0 {
                return Ok(());
            }
            let mut change = values.clone();
            matrix.solve(&mut change);
            if !size.is_finite() || change.iter().any(|v| !v.is_finite()) {
                break;
            }
            let before = self.fast[start..end].to_vec();
            let mut part = 1.0;
            loop {
                for (i, before) in before.iter().enumerate() {
                    self.fast[start + i] = before - part * change[i];
                }
                (values, matrix) = self.softened(homotopy, width);
                if norm(&values) <= (1.0 - 1e-4 * part) * size || part < 1e-6 {
                    break;
                }
                part *= 0.5;
            }
            let level = norm(&self.fast[start..end]);
            let left = homotopy.surfaces.iter().map(|(j, _)| values[known + j].abs()).fold(0.0, f64::max);
            if norm(&change) <= 1e-7 * level && left <= CLOSE * width.unwrap_or(1.0) {
                return Ok(());
            }
            if part < 1e-6 {
                break;
            }
        }
        Err(Trouble::NoSolution(0))
    }
}
