//! Folding: submodels as single boxes, so that a large model stays legible.

use super::diagram::{Bond, Diagram, Group, Node, NodeKind, NodeStyle, SignalArrow};
use super::hull::depths;

/// Beyond this many nodes a drawing is folded by itself.
const LEGIBLE: usize = 150;

/// Which submodels are folded to boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fold {
    /// As few as keep the drawing legible.
    #[default]
    Automatic,
    /// None.
    Never,
    /// Those nested at least this deep; 0 folds the outermost ones.
    Depth(usize),
}

/// Replaces submodels by boxes.
pub fn fold(diagram: &Diagram, fold: Fold) -> Diagram {
    if diagram.groups.is_empty() {
        return diagram.clone();
    }
    let depths = depths(diagram);
    let deepest = depths.iter().copied().max().unwrap_or(0);
    match fold {
        Fold::Never => diagram.clone(),
        Fold::Depth(depth) => fold_at(diagram, &depths, depth),
        Fold::Automatic if diagram.nodes.len() <= LEGIBLE => diagram.clone(),
        Fold::Automatic => (0..=deepest)
            .rev()
            .map(|depth| fold_at(diagram, &depths, depth))
            .find(|folded| folded.nodes.len() <= LEGIBLE)
            .unwrap_or_else(|| fold_at(diagram, &depths, 0)),
    }
}

fn fold_at(diagram: &Diagram, depths: &[usize], depth: usize) -> Diagram {
    // The folded group each node vanishes in.
    let box_of = |node: &Node| {
        let mut group = node.group?;
        while depths[group] > depth {
            group = diagram.groups[group].parent?;
        }
        (depths[group] == depth).then_some(group)
    };
    let kept: Vec<usize> = (0..diagram.groups.len()).filter(|&group| depths[group] < depth).collect();
    let new_group = |group: usize| kept.binary_search(&group).ok();
    let mut folded = Diagram {
        title: diagram.title.clone(),
        groups: kept
            .iter()
            .map(|&group| Group {
                parent: diagram.groups[group].parent.and_then(new_group),
                ..diagram.groups[group].clone()
            })
            .collect(),
        ..Diagram::default()
    };
    let mut node_of_box = vec![None; diagram.groups.len()];
    let mut new_node = Vec::with_capacity(diagram.nodes.len());
    for node in &diagram.nodes {
        let Some(group) = box_of(node) else {
            new_node.push(folded.nodes.len());
            folded.nodes.push(Node { group: node.group.and_then(new_group), ..node.clone() });
            continue;
        };
        let index = *node_of_box[group].get_or_insert_with(|| {
            let Group { name, model, parent } = &diagram.groups[group];
            let mut boxed = Node::new(NodeKind::Submodel, name.clone()).value(model.clone());
            boxed.group = parent.and_then(new_group);
            folded.nodes.push(boxed);
            folded.nodes.len() - 1
        });
        let boxed = &mut folded.nodes[index];
        boxed.highlighted |= node.highlighted;
        if node.style == NodeStyle::Bad {
            boxed.style = NodeStyle::Bad;
        }
        new_node.push(index);
    }
    let inside = |from: usize, to: usize| {
        new_node[from] == new_node[to] && folded.nodes[new_node[from]].kind == NodeKind::Submodel
    };
    folded.bonds = diagram
        .bonds
        .iter()
        .filter(|bond| !inside(bond.from, bond.to))
        .map(|bond| Bond { from: new_node[bond.from], to: new_node[bond.to], ..*bond })
        .collect();
    for signal in diagram.signals.iter().filter(|signal| !inside(signal.from, signal.to)) {
        let arrow = SignalArrow {
            from: new_node[signal.from],
            to: new_node[signal.to],
            highlighted: signal.highlighted,
        };
        if !folded.signals.contains(&arrow) {
            folded.signals.push(arrow);
        }
    }
    folded
}
