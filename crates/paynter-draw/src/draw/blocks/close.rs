//! The block diagram of an uncertain model with its loops w = δ z closed (El Feki, Marquis-Favre, Krähenbühl &
//! Thomasset 2010, Figs 8 and 15).

use super::{Block, BlockDiagram, BlockKind, Wire};
use std::collections::BTreeSet;

/// A pair of auxiliary input and output with its δ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockLoop {
    /// The text of the input's block.
    pub w: String,
    /// The texts of the output's blocks: its own and that of its detector.
    pub z: [String; 2],
    /// What δ is called.
    pub delta: String,
}

impl BlockDiagram {
    /// Closes loops by blocks δ from auxiliary outputs to auxiliary inputs; or, where that is asked for and z is the
    /// output of a block, by δ times that block beside it, so that z is no signal of its own.
    pub fn close(&mut self, loops: &[BlockLoop], beside: bool) {
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for BlockLoop { w, z, delta } in loops {
            let blocks = |kind: BlockKind, text: &str| -> Vec<usize> {
                let same = |k: &usize| self.blocks[*k].kind == kind && self.blocks[*k].text == text;
                (0..self.blocks.len()).filter(same).collect()
            };
            let (inputs, outputs) = (blocks(BlockKind::Input, w), blocks(BlockKind::Output, &z[0]));
            let detectors = blocks(BlockKind::Output, &z[1]);
            let scaled: Vec<(usize, String)> = (0..self.blocks.len())
                .filter(|k| self.blocks[*k].kind == BlockKind::Input)
                .filter_map(|k| Some((k, factor_beside(&self.blocks[k].text, w)?)))
                .collect();
            let (false, [output]) = (inputs.is_empty() && scaled.is_empty(), &outputs[..]) else { continue };
            let from: Vec<usize> =
                self.wires.iter().filter(|wire| wire.to == *output).map(|wire| wire.from).collect();
            let [from] = from[..] else { continue };
            // Where nothing else reads the nominal part, δ stands behind it: beside it would leave its line open.
            let read_elsewhere = self
                .wires
                .iter()
                .any(|wire| wire.from == from && wire.to != *output && !detectors.contains(&wire.to));
            let doubled = beside && read_elsewhere && self.blocks[from].kind == BlockKind::Function;
            let (text, read) = match doubled {
                true => {
                    let own = &self.blocks[from].text;
                    let text = match own.strip_prefix("1/") {
                        Some(divisor) => format!("{delta}/{divisor}"),
                        None => format!("{delta} {own}"),
                    };
                    let read = self.wires.iter().filter(|wire| wire.to == from);
                    (text, read.map(|wire| (wire.from, wire.negative)).collect())
                }
                false => (delta.clone(), vec![(from, false)]),
            };
            let block = self.blocks.len();
            self.blocks.push(Block {
                kind: BlockKind::Function,
                text,
                note: format!("{w} = {delta} {}", z[0]),
            });
            for wire in self.wires.iter_mut().filter(|wire| inputs.contains(&wire.from)) {
                wire.from = block;
            }
            // An auxiliary input that enters with a factor leaves a block of it.
            for (place, factor) in scaled {
                (self.blocks[place].kind, self.blocks[place].text) = (BlockKind::Function, factor);
                self.wires.push(Wire { from: block, to: place, negative: false });
            }
            self.wires.extend(read.into_iter().map(|(from, negative)| Wire { from, to: block, negative }));
            gone.extend(inputs.iter().chain(&outputs).chain(&detectors));
        }
        self.remove(&gone);
    }

    /// Removes sums of one term, as junctions with a detector leave them.
    pub(super) fn contract_sums(&mut self) {
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for sum in (0..self.blocks.len()).filter(|k| self.blocks[*k].kind == BlockKind::Sum) {
            let incoming: Vec<Wire> = self.wires.iter().filter(|wire| wire.to == sum).copied().collect();
            if let [Wire { from, negative: false, .. }] = incoming[..] {
                self.wires.retain(|wire| wire.to != sum);
                self.wires.iter_mut().filter(|wire| wire.from == sum).for_each(|wire| wire.from = from);
                gone.insert(sum);
            }
        }
        self.remove(&gone);
    }

    fn remove(&mut self, gone: &BTreeSet<usize>) {
        self.wires.retain(|wire| !gone.contains(&wire.from) && !gone.contains(&wire.to));
        let before = |k: usize| k - gone.range(..k).count();
        for wire in &mut self.wires {
            (wire.from, wire.to) = (before(wire.from), before(wire.to));
        }
        let mut place = 0;
        self.blocks.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
    }
}

/// What stands beside a variable in a plain product: `n` in `n*w`.
fn factor_beside(text: &str, variable: &str) -> Option<String> {
    let (own, others): (Vec<&str>, Vec<&str>) = text.split('*').partition(|factor| *factor == variable);
    let is_plain = !text.contains(['+', '-', '/', '(', '^', ' ']);
    (own.len() == 1 && !others.is_empty() && is_plain).then(|| others.join("*"))
}
