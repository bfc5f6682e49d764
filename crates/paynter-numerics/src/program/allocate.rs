//! From a straight line of values to instructions on few registers.
//!
//! Registers hold, in this order: arguments, constants, slow values that the
//! rest needs, and everything else, where a register is used again as soon as
//! its value is no longer needed.

use super::instruction::{Instruction, Op};
use super::lower::{Line, Value};

/// A program before it gets its number of arguments.
#[derive(Debug)]
pub(crate) struct Allocated {
    pub constants: Vec<f64>,
    pub prologue: Vec<Instruction>,
    pub body: Vec<Instruction>,
    pub registers: usize,
}

/// An operation whose operands are values; `None` marks one that is fused into another or not needed.
type Slot = Option<(Op, [u32; 3])>;

/// Joins a product that is used once with the sum that uses it.
fn fuse(line: &Line) -> Vec<Slot> {
    let mut uses = vec![0u32; line.values.len()];
    let mut slots: Vec<Slot> = line
        .values
        .iter()
        .map(|value| match value {
            Value::Operation(op, operands) => Some((*op, *operands)),
            _ => None,
        })
        .collect();
    // Only what a root needs counts.
    let mut needed = vec![false; line.values.len()];
    for root in &line.roots {
        needed[*root as usize] = true;
        uses[*root as usize] += 2;
    }
    for i in (0..slots.len()).rev() {
        if !needed[i] {
            slots[i] = None;
        } else if let Some((op, operands)) = slots[i] {
            for operand in &operands[..op.arity()] {
                needed[*operand as usize] = true;
                uses[*operand as usize] += 1;
            }
        }
    }
    for i in 0..slots.len() {
        let Some((op @ (Op::Add | Op::Sub), [a, b, _])) = slots[i] else { continue };
        let product = |v: u32| match slots[v as usize] {
            Some((Op::Mul, factors)) if uses[v as usize] == 1 && line.slow[v as usize] == line.slow[i] => {
                Some(factors)
            }
            _ => None,
        };
        let (fused, gone) = match (op, product(a), product(b)) {
            (_, _, Some([x, y, _])) => {
                ((if op == Op::Add { Op::MulAdd } else { Op::NegMulAdd }, [x, y, a]), b)
            }
            (Op::Add, Some([x, y, _]), None) => ((Op::MulAdd, [x, y, b]), a),
            _ => continue,
        };
        slots[i] = Some(fused);
        slots[gone as usize] = None;
    }
    slots
}

/// When values are calculated and used.
struct Lifetimes {
    /// The values that are calculated, slow ones first.
    order: Vec<usize>,
    /// Whether an operation or a result needs a value.
    used: Vec<bool>,
    /// The place in the order at which a value is last used.
    last: Vec<usize>,
    /// Slow values that a fast one or a result needs, which stay for all runs.
    kept: Vec<bool>,
}

impl Lifetimes {
    fn new(line: &Line, slots: &[Slot]) -> Lifetimes {
        let count = line.values.len();
        let order: Vec<usize> = (0..count)
            .filter(|i| slots[*i].is_some() && line.slow[*i])
            .chain((0..count).filter(|i| slots[*i].is_some() && !line.slow[*i]))
            .collect();
        let (mut used, mut last, mut kept) = (vec![false; count], vec![0usize; count], vec![false; count]);
        for (time, i) in order.iter().enumerate() {
            if let Some((op, operands)) = slots[*i] {
                for operand in &operands[..op.arity()] {
                    let operand = *operand as usize;
                    used[operand] = true;
                    last[operand] = time;
                    kept[operand] |= line.slow[operand] && !line.slow[*i];
                }
            }
        }
        for root in &line.roots {
            used[*root as usize] = true;
            kept[*root as usize] |= line.slow[*root as usize];
        }
        Lifetimes { order, used, last, kept }
    }
}

/// The results that are values, by value.
struct Stores(Vec<(u32, u32)>);

impl Stores {
    fn new(line: &Line) -> Stores {
        let mut list: Vec<(u32, u32)> =
            line.roots.iter().enumerate().map(|(result, value)| (*value, result as u32)).collect();
        list.sort_unstable();
        Stores(list)
    }

    /// The instructions that write a value in a register to its results.
    fn of(&self, value: usize, register: u32) -> impl Iterator<Item = Instruction> {
        let value = value as u32;
        let start = self.0.partition_point(|(v, _)| *v < value);
        let own = self.0[start..].iter().take_while(move |(v, _)| *v == value);
        own.map(move |(_, result)| Instruction { op: Op::Store, dst: *result, a: register, b: 0, c: 0 })
    }
}

/// The registers of values; `u32::MAX` where a value has none.
struct Registers {
    of: Vec<u32>,
    constants: Vec<f64>,
    /// How many there are.
    count: u32,
    /// Registers whose values are no longer needed.
    free: Vec<u32>,
}

impl Registers {
    /// Those of arguments, constants and slow values that stay.
    fn new(line: &Line, slots: &[Slot], lifetimes: &Lifetimes, arguments: usize) -> Registers {
        let mut of = vec![u32::MAX; line.values.len()];
        let mut constants = Vec::new();
        for (i, value) in line.values.iter().enumerate() {
            match value {
                Value::Argument(number) => of[i] = *number,
                Value::Constant(value) if lifetimes.used[i] => {
                    of[i] = (arguments + constants.len()) as u32;
                    constants.push(*value);
                }
                _ => {}
            }
        }
        let mut count = (arguments + constants.len()) as u32;
        for (register, (kept, slot)) in of.iter_mut().zip(lifetimes.kept.iter().zip(slots)) {
            if *kept && slot.is_some() {
                *register = count;
                count += 1;
            }
        }
        Registers { of, constants, count, free: Vec::new() }
    }

    /// Frees the registers of operands that are used for the last time.
    fn release(&mut self, operands: &[u32], time: usize, slots: &[Slot], lifetimes: &Lifetimes) {
        let mut released: [Option<u32>; 3] = [None; 3];
        for (k, operand) in operands.iter().enumerate() {
            let v = *operand as usize;
            let temporary = slots[v].is_some() && !lifetimes.kept[v];
            if temporary && lifetimes.last[v] == time && !released.contains(&Some(self.of[v])) {
                released[k] = Some(self.of[v]);
            }
        }
        self.free.extend(released.into_iter().flatten());
    }

    /// The register of a result: its own, or one that is free.
    fn take(&mut self, value: usize) -> u32 {
        if self.of[value] == u32::MAX {
            self.of[value] = self.free.pop().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            });
        }
        self.of[value]
    }
}

/// Gives every value that is needed a register.
pub(crate) fn allocate(line: &Line, arguments: usize) -> Allocated {
    let slots = fuse(line);
    let lifetimes = Lifetimes::new(line, &slots);
    let stores = Stores::new(line);
    let mut registers = Registers::new(line, &slots, &lifetimes, arguments);
    let (mut prologue, mut body) = (Vec::new(), Vec::new());
    for (i, value) in line.values.iter().enumerate() {
        // Results that are fast arguments are written first.
        if lifetimes.used[i] && !line.slow[i] && !matches!(value, Value::Operation(..)) {
            body.extend(stores.of(i, registers.of[i]));
        }
    }
    for (time, i) in lifetimes.order.iter().enumerate() {
        let Some((op, operands)) = slots[*i] else { continue };
        let mut at = operands;
        for operand in at.iter_mut().take(op.arity()) {
            *operand = registers.of[*operand as usize];
        }
        registers.release(&operands[..op.arity()], time, &slots, &lifetimes);
        let dst = registers.take(*i);
        let list = if line.slow[*i] { &mut prologue } else { &mut body };
        list.push(Instruction { op, dst, a: at[0], b: at[1], c: at[2] });
        if !line.slow[*i] {
            list.extend(stores.of(*i, dst));
            // A value that only a result needs is free at once.
            if lifetimes.last[*i] <= time {
                registers.free.push(dst);
            }
        }
    }
    // Results that are slow are written once, by the preparation.
    for (i, slow) in line.slow.iter().enumerate() {
        if lifetimes.used[i] && *slow {
            prologue.extend(stores.of(i, registers.of[i]));
        }
    }
    Allocated { constants: registers.constants, prologue, body, registers: registers.count as usize }
}
