//! Running instructions, on any kind of number.

use super::instruction::{Instruction, Op};
use super::scalar::Scalar;
use super::tables::Tables;

/// Executes instructions on registers; stores write to `out`.
pub(crate) fn execute<T: Scalar>(code: &[Instruction], registers: &mut [T], tables: &Tables, out: &mut [T]) {
    for i in code {
        let a = registers[i.a as usize];
        let value = match i.op {
            Op::Add => a.add(registers[i.b as usize]),
            Op::Sub => a.sub(registers[i.b as usize]),
            Op::Mul => product(a, i, registers),
            Op::Div => a.div(registers[i.b as usize]),
            Op::MulAdd => product(a, i, registers).add(registers[i.c as usize]),
            Op::NegMulAdd => registers[i.c as usize].sub(product(a, i, registers)),
            Op::Store => {
                if let Some(result) = out.get_mut(i.dst as usize) {
                    *result = a;
                }
                continue;
            }
            Op::Table => a.map(|t| tables.value(i.b, t)),
            op => match op.arity() {
                1 => T::other(op, a, a, a),
                2 => T::other(op, a, registers[i.b as usize], a),
                _ => T::other(op, a, registers[i.b as usize], registers[i.c as usize]),
            },
        };
        registers[i.dst as usize] = value;
    }
}

/// a·b; of one register with itself a square, which an interval knows better.
#[inline(always)]
fn product<T: Scalar>(a: T, i: &Instruction, registers: &[T]) -> T {
    if i.a == i.b { a.square() } else { a.mul(registers[i.b as usize]) }
}
