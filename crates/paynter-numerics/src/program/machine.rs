//! Machine code of a program's body, by Cranelift.
//!
//! The code does what [`super::run::execute`] does, operation by operation
//! and bit by bit: which of the two runs never shows in a result. It is made
//! only for programs that run often enough to repay it.
//!
//! This is the one module of the workspace with unsafe code. What it relies on:
//! the generated functions read registers and arguments below the lengths that are checked
//! before a call, and write results below the number that is checked as well;
//! they call nothing but the functions in [`helper`], and keep no pointer.
#![allow(unsafe_code, reason = "code that is generated at run time can be called in no other way")]

use super::instruction::{Instruction, Op};
use super::scalar::{EXPONENTS, ROOT_BITS, ROOT_CELLS, ROOT_SERIES, ROOTS, THIRD, calculate};
use crate::tolerance::{LEAST_BASE, ROOTED};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use std::collections::BTreeMap;
use std::ops::Range;

/// The time to compile a function grows faster than its length, so that long programs are divided.
const LENGTH: usize = 2000;

type Entry = unsafe extern "C" fn(registers: *mut f64, fast: *const f64, out: *mut f64);

/// Machine code for a sequence of instructions.
pub(crate) struct Machine {
    entries: Vec<Entry>,
    registers: usize,
    /// The registers whose values are arguments, which are read where the caller has them.
    fast: Range<usize>,
    results: usize,
    /// Owns the memory of the code.
    module: Option<JITModule>,
}

// SAFETY: after it is made the module is only kept, and freed once by `drop`;
// the code itself is never written again and works on its arguments alone.
unsafe impl Send for Machine {}
// SAFETY: as above.
unsafe impl Sync for Machine {}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: a call borrows the machine, so that none is under way, and the entries go with it.
            unsafe { module.free_memory() }
        }
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Machine({} functions)", self.entries.len())
    }
}

impl Machine {
    /// Compiles instructions; `None` where the machine is not known, allows no generated code, or
    /// the instructions read tables.
    pub fn compile(
        code: &[Instruction],
        registers: usize,
        fast: Range<usize>,
        results: usize,
    ) -> Option<Machine> {
        if code.iter().any(|i| i.op == Op::Table) {
            return None;
        }
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_verifier", "false"),
        ] {
            flags.set(name, value).ok()?;
        }
        let target = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        let mut builder = JITBuilder::with_isa(target, default_libcall_names());
        let mut called: Vec<Op> = code.iter().map(|i| i.op).filter(|op| helper(*op).is_some()).collect();
        called.sort_unstable_by_key(|op| *op as u8);
        called.dedup();
        for op in &called {
            builder.symbol(name(*op), helper(*op)?);
        }
        let mut module = JITModule::new(builder);
        let mut helpers = BTreeMap::new();
        for op in called {
            let mut signature = module.make_signature();
            signature.params.extend([AbiParam::new(types::F64); 3]);
            signature.returns.push(AbiParam::new(types::F64));
            helpers.insert(op as u8, module.declare_function(&name(op), Linkage::Import, &signature).ok()?);
        }
        let parts: Vec<&[Instruction]> = code.chunks(LENGTH).collect();
        let needed = needed_after(&parts, registers);
        let mut made = Vec::new();
        for (part, needed) in parts.iter().zip(&needed) {
            made.push(function(&mut module, part, needed, &fast, &helpers)?);
        }
        module.finalize_definitions().ok()?;
        let entries = made
            .into_iter()
            .map(|id| {
                // SAFETY: the function was declared with this signature in the convention of C.
                unsafe { std::mem::transmute::<*const u8, Entry>(module.get_finalized_function(id)) }
            })
            .collect();
        Some(Machine { entries, registers, fast, results, module: Some(module) })
    }

    /// Runs the code if there is room enough; tells whether there was.
    #[inline]
    pub fn run(&self, registers: &mut [f64], fast: &[f64], out: &mut [f64]) -> bool {
        let room = registers.len() >= self.registers && out.len() >= self.results;
        if !room || fast.len() < self.fast.len() {
            return false;
        }
        for entry in &self.entries {
            // SAFETY: the code reads and writes registers, arguments and results below the numbers just checked.
            unsafe { entry(registers.as_mut_ptr(), fast.as_ptr(), out.as_mut_ptr()) }
        }
        true
    }
}

/// For each part, the registers whose values a later part reads.
fn needed_after(parts: &[&[Instruction]], registers: usize) -> Vec<Vec<bool>> {
    let mut needed = vec![false; registers];
    let mut lists = Vec::new();
    for part in parts.iter().rev() {
        lists.push(needed.clone());
        for i in part.iter().rev() {
            if i.op != Op::Store {
                needed[i.dst as usize] = false;
            }
            i.operands().for_each(|operand| needed[operand as usize] = true);
        }
    }
    lists.reverse();
    lists
}

/// Makes one function from instructions.
fn function(
    module: &mut JITModule,
    code: &[Instruction],
    needed: &[bool],
    fast: &Range<usize>,
    helpers: &BTreeMap<u8, FuncId>,
) -> Option<FuncId> {
    let pointer = module.target_config().pointer_type();
    let mut context = module.make_context();
    context.func.signature.params.extend([AbiParam::new(pointer); 3]);
    let id = module.declare_anonymous_function(&context.func.signature).ok()?;
    let mut room = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut room);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let &[registers, arguments, out] = builder.block_params(block) else { return None };
    let mut calls: BTreeMap<u8, FuncRef> = BTreeMap::new();
    for i in code {
        if let Some(id) = helpers.get(&(i.op as u8)) {
            calls.entry(i.op as u8).or_insert_with(|| module.declare_func_in_func(*id, builder.func));
        }
    }
    let mut values: BTreeMap<u32, Value> = BTreeMap::new();
    let mut written: Vec<u32> = Vec::new();
    let flags = MemFlagsData::trusted();
    for i in code {
        let mut at = [None; 3];
        for (at, register) in at.iter_mut().zip(i.operands()) {
            let place = register as usize;
            let argument = fast.contains(&place);
            let (from, place) = if argument { (arguments, place - fast.start) } else { (registers, place) };
            let offset = i32::try_from(8 * place).ok()?;
            let load = || builder.ins().load(types::F64, flags, from, offset);
            *at = Some(*values.entry(register).or_insert_with(load));
        }
        let a = at[0]?;
        let (b, c) = (at[1].unwrap_or(a), at[2].unwrap_or(a));
        if i.op == Op::Store {
            builder.ins().store(flags, a, out, i32::try_from(8 * i.dst).ok()?);
            continue;
        }
        let value = operation(&mut builder, i.op, [a, b, c], &calls)?;
        values.insert(i.dst, value);
        if needed[i.dst as usize] {
            written.push(i.dst);
        }
    }
    written.sort_unstable();
    written.dedup();
    for register in written {
        builder.ins().store(flags, *values.get(&register)?, registers, i32::try_from(8 * register).ok()?);
    }
    builder.ins().return_(&[]);
    builder.finalize(module.target_config());
    module.define_function(id, &mut context).ok()?;
    module.clear_context(&mut context);
    Some(id)
}

/// One operation on values; those without an instruction of their own are calls.
fn operation(
    builder: &mut FunctionBuilder<'_>,
    op: Op,
    [a, b, c]: [Value; 3],
    calls: &BTreeMap<u8, FuncRef>,
) -> Option<Value> {
    let compare = |builder: &mut FunctionBuilder<'_>, condition: FloatCC| {
        let (one, zero) = (builder.ins().f64const(1.0), builder.ins().f64const(0.0));
        let holds = builder.ins().fcmp(condition, a, b);
        builder.ins().select(holds, one, zero)
    };
    Some(match op {
        Op::Add => builder.ins().fadd(a, b),
        Op::Sub => builder.ins().fsub(a, b),
        Op::Mul => builder.ins().fmul(a, b),
        Op::Div => builder.ins().fdiv(a, b),
        Op::Neg => builder.ins().fneg(a),
        // Not fused: every machine rounds twice.
        Op::MulAdd => {
            let product = builder.ins().fmul(a, b);
            builder.ins().fadd(product, c)
        }
        Op::NegMulAdd => {
            let product = builder.ins().fmul(a, b);
            builder.ins().fsub(c, product)
        }
        Op::MulZero => {
            let zero = builder.ins().f64const(0.0);
            let vanishes = builder.ins().fcmp(FloatCC::Equal, a, zero);
            let product = builder.ins().fmul(a, b);
            builder.ins().select(vanishes, zero, product)
        }
        Op::PowLess => {
            let least = builder.ins().f64const(LEAST_BASE);
            let first = builder.ins().fcmp(FloatCC::GreaterThan, b, least);
            let second = builder.ins().fcmp(FloatCC::GreaterThan, a, least);
            let plain = builder.ins().band(first, second);
            let quotient = |builder: &mut FunctionBuilder<'_>| builder.ins().fdiv(a, b);
            unless_odd(builder, plain, quotient, *calls.get(&(op as u8))?, [a, b, c])?
        }
        Op::Cbrt => {
            let [low, high] = ROOTED.map(|limit| builder.ins().f64const(limit));
            let first = builder.ins().fcmp(FloatCC::GreaterThanOrEqual, a, low);
            let second = builder.ins().fcmp(FloatCC::LessThan, a, high);
            let plain = builder.ins().band(first, second);
            let root = |builder: &mut FunctionBuilder<'_>| cube_root(builder, a);
            unless_odd(builder, plain, root, *calls.get(&(op as u8))?, [a, b, c])?
        }
        Op::Sqrt => builder.ins().sqrt(a),
        Op::Abs => builder.ins().fabs(a),
        Op::Lt => compare(builder, FloatCC::LessThan),
        Op::Le => compare(builder, FloatCC::LessThanOrEqual),
        Op::Eq => compare(builder, FloatCC::Equal),
        Op::Ne => compare(builder, FloatCC::NotEqual),
        Op::Select => {
            let zero = builder.ins().f64const(0.0);
            let holds = builder.ins().fcmp(FloatCC::NotEqual, a, zero);
            builder.ins().select(holds, b, c)
        }
        _ => {
            let call = builder.ins().call(*calls.get(&(op as u8))?, &[a, b, c]);
            *builder.inst_results(call).first()?
        }
    })
}

/// A value that is calculated in place, or by a call where the operands are odd.
fn unless_odd(
    builder: &mut FunctionBuilder<'_>,
    plain: Value,
    quick: impl FnOnce(&mut FunctionBuilder<'_>) -> Value,
    call: FuncRef,
    operands: [Value; 3],
) -> Option<Value> {
    let [here, away, after] = [(); 3].map(|()| builder.create_block());
    let result = builder.append_block_param(after, types::F64);
    builder.set_cold_block(away);
    builder.ins().brif(plain, here, &[], away, &[]);
    builder.switch_to_block(here);
    builder.seal_block(here);
    let value = quick(builder);
    builder.ins().jump(after, &[value.into()]);
    builder.switch_to_block(away);
    builder.seal_block(away);
    let call = builder.ins().call(call, &operands);
    let value = *builder.inst_results(call).first()?;
    builder.ins().jump(after, &[value.into()]);
    builder.switch_to_block(after);
    builder.seal_block(after);
    Some(result)
}

/// A cube root, operation by operation as [`super::scalar`] calculates it.
fn cube_root(builder: &mut FunctionBuilder<'_>, a: Value) -> Value {
    let flags = MemFlagsData::new();
    let whole =
        |builder: &mut FunctionBuilder<'_>, value: u64| builder.ins().iconst(types::I64, value.cast_signed());
    let bits = builder.ins().bitcast(types::I64, flags, a);
    let exponent = builder.ins().ushr_imm_u(bits, 52);
    let factor = whole(builder, THIRD.0);
    let third = builder.ins().imul(exponent, factor);
    let third = builder.ins().ushr_imm_u(third, i64::from(THIRD.1));
    let leading = builder.ins().ushr_imm_u(bits, i64::from(52 - ROOT_BITS));
    let cells = whole(builder, ROOT_CELLS as u64);
    let before = builder.ins().imul(third, cells);
    let cell = builder.ins().isub(leading, before);
    let row = builder.ins().ishl_imm_u(cell, 5);
    let table = whole(builder, ROOTS.as_ptr().expose_provenance() as u64);
    let row = builder.ins().iadd(table, row);
    let [middle, inverse, root, lack] = [0, 8, 16, 24].map(|at| {
        builder.ins().load(if at == 16 { types::I64 } else { types::F64 }, MemFlagsData::trusted(), row, at)
    });
    let [one, third_of_one] = EXPONENTS.map(|exponent| whole(builder, exponent));
    let three = whole(builder, 3);
    let thrice = builder.ins().imul(third, three);
    let thrice = builder.ins().ishl_imm_u(thrice, 52);
    let scaled = builder.ins().iadd(bits, one);
    let scaled = builder.ins().isub(scaled, thrice);
    let scaled = builder.ins().bitcast(types::F64, flags, scaled);
    let third = builder.ins().ishl_imm_u(third, 52);
    let root = builder.ins().iadd(root, third);
    let root = builder.ins().isub(root, third_of_one);
    let root = builder.ins().bitcast(types::F64, flags, root);
    let c = ROOT_SERIES.map(|c| builder.ins().f64const(c));
    let plus = |builder: &mut FunctionBuilder<'_>, a: Value, b: Value, c: Value| {
        let product = builder.ins().fmul(b, c);
        builder.ins().fadd(a, product)
    };
    let r = builder.ins().fsub(scaled, middle);
    let r = builder.ins().fmul(r, inverse);
    let square = builder.ins().fmul(r, r);
    let [first, second, third] = [0, 2, 4].map(|i| plus(builder, c[i], r, c[i + 1]));
    let far = plus(builder, third, square, c[6]);
    let near = plus(builder, first, square, second);
    let fourth = builder.ins().fmul(square, square);
    let series = plus(builder, near, fourth, far);
    let part = plus(builder, lack, r, series);
    plus(builder, root, root, part)
}

fn name(op: Op) -> String {
    format!("{op:?}")
}

/// The function that calculates an operation for which there is no instruction.
fn helper(op: Op) -> Option<*const u8> {
    macro_rules! helpers {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => {
                    extern "C" fn call(a: f64, b: f64, c: f64) -> f64 {
                        calculate(Op::$name, a, b, c)
                    }
                    Some(call as *const u8)
                })*
                _ => None,
            }
        };
    }
    helpers!(
        Cbrt Pow PowLess PowLog Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Asinh Acosh Atanh Exp Ln Log10
        Sign Min Max
    )
}
