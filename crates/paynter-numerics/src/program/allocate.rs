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

/// Gives every value that is needed a register.
pub(crate) fn allocate(line: &Line, arguments: usize) -> Allocated {
    let slots = fuse(line);
    let count = line.values.len();
    // When each value is last used, in the order of calculation: slow ones first.
    let order: Vec<usize> = (0..count)
        .filter(|i| slots[*i].is_some() && line.slow[*i])
        .chain((0..count).filter(|i| slots[*i].is_some() && !line.slow[*i]))
        .collect();
    let mut stores: Vec<(u32, u32)> =
        line.roots.iter().enumerate().map(|(result, value)| (*value, result as u32)).collect();
    stores.sort_unstable();
    let stores_of = |value: u32| {
        let start = stores.partition_point(|(v, _)| *v < value);
        stores[start..].iter().take_while(move |(v, _)| *v == value).map(|(_, result)| *result)
    };
    let mut last = vec![0usize; count];
    // A slow value that a fast one or a result needs stays for all runs.
    let mut kept = vec![false; count];
    for (time, i) in order.iter().enumerate() {
        if let Some((op, operands)) = slots[*i] {
            for operand in &operands[..op.arity()] {
                last[*operand as usize] = time;
                kept[*operand as usize] |= line.slow[*operand as usize] && !line.slow[*i];
            }
        }
    }
    for root in &line.roots {
        kept[*root as usize] |= line.slow[*root as usize];
    }

    let mut constants = Vec::new();
    let mut register = vec![u32::MAX; count];
    let mut used = vec![false; count];
    for i in order.iter() {
        if let Some((op, operands)) = slots[*i] {
            operands[..op.arity()].iter().for_each(|o| used[*o as usize] = true);
        }
    }
    line.roots.iter().for_each(|root| used[*root as usize] = true);
    for (i, value) in line.values.iter().enumerate() {
        match value {
            Value::Argument(number) => register[i] = *number,
            Value::Constant(value) if used[i] => {
                register[i] = (arguments + constants.len()) as u32;
                constants.push(*value);
            }
            _ => {}
        }
    }
    let mut next = (arguments + constants.len()) as u32;
    for i in 0..count {
        if kept[i] && slots[i].is_some() {
            register[i] = next;
            next += 1;
        }
    }
    let mut free: Vec<u32> = Vec::new();
    let (mut prologue, mut body) = (Vec::new(), Vec::new());
    for (i, value) in line.values.iter().enumerate() {
        // Results that are fast arguments are written first.
        if used[i] && !line.slow[i] && !matches!(value, Value::Operation(..)) {
            for result in stores_of(i as u32) {
                body.push(Instruction { op: Op::Store, dst: result, a: register[i], b: 0, c: 0 });
            }
        }
    }
    for (time, i) in order.iter().enumerate() {
        let Some((op, operands)) = slots[*i] else { continue };
        let mut at = operands;
        for operand in at.iter_mut().take(op.arity()) {
            *operand = register[*operand as usize];
        }
        let mut released: [Option<u32>; 3] = [None; 3];
        for (k, operand) in operands[..op.arity()].iter().enumerate() {
            let v = *operand as usize;
            let temporary = slots[v].is_some() && !kept[v];
            if temporary && last[v] == time && !released.contains(&Some(register[v])) {
                released[k] = Some(register[v]);
            }
        }
        free.extend(released.into_iter().flatten());
        if register[*i] == u32::MAX {
            register[*i] = free.pop().unwrap_or_else(|| {
                next += 1;
                next - 1
            });
        }
        let list = if line.slow[*i] { &mut prologue } else { &mut body };
        list.push(Instruction { op, dst: register[*i], a: at[0], b: at[1], c: at[2] });
        if !line.slow[*i] {
            for result in stores_of(*i as u32) {
                list.push(Instruction { op: Op::Store, dst: result, a: register[*i], b: 0, c: 0 });
            }
            // A value that only a result needs is free at once.
            if !used_later(&last, *i, time) {
                free.push(register[*i]);
            }
        }
    }
    // Results that are slow are written once, by the preparation.
    for (i, slow) in line.slow.iter().enumerate() {
        if used[i] && *slow {
            for result in stores_of(i as u32) {
                prologue.push(Instruction { op: Op::Store, dst: result, a: register[i], b: 0, c: 0 });
            }
        }
    }
    Allocated { constants, prologue, body, registers: next as usize }
}

fn used_later(last: &[usize], i: usize, time: usize) -> bool {
    last[i] > time
}
