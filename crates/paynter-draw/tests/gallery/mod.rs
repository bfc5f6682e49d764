//! The graphs on which the drawing is judged, in a short notation: one
//! statement a line, `KIND name = value` or `a -> b, c`; `->|` puts the causal
//! stroke at the head, `|->` at the tail.

#![allow(dead_code, clippy::expect_used, clippy::panic)]

pub mod checks;

use paynter_draw::draw::{Bond, Diagram, Group, Node, NodeKind, SignalArrow, Stroke};
use paynter_graph::Kind;

/// Reads the short notation.
pub fn diagram(title: &str, text: &str) -> Diagram {
    let mut diagram = Diagram { title: title.to_owned(), ..Diagram::default() };
    for line in text.lines().flat_map(|line| line.split(';')).map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(rest) = line.strip_prefix("signal ") {
            let (from, to) = rest.split_once("->").expect("a signal");
            let (from, to) = (index(&diagram, from), index(&diagram, to));
            diagram.signals.push(SignalArrow { from, to, highlighted: false });
        } else if line.contains("->") {
            bonds(&mut diagram, line);
        } else {
            let (head, value) =
                line.split_once('=').map_or((line, None), |(head, value)| (head, Some(value.trim())));
            let (kind, name) = head.trim().split_once(' ').expect("kind and name");
            let (modulated, plain) = match kind.strip_prefix('M') {
                Some(plain) => (true, plain),
                None => (false, kind),
            };
            let kind = match plain {
                "block" => NodeKind::Signal,
                word => NodeKind::Element(Kind::parse(word).unwrap_or_else(|| panic!("kind {word}"))),
            };
            for name in name.split(',').map(str::trim) {
                let (name, field) = match name.split_once('[') {
                    Some((name, count)) => (name, count.trim_end_matches(']').parse().expect("a count")),
                    None => (name, 0),
                };
                let mut node = Node::new(kind, name).field(field);
                node.modulated = modulated;
                node.value = value.map(str::to_owned);
                node.group = name.rsplit_once('.').map(|(group, _)| group_index(&mut diagram, group));
                diagram.nodes.push(node);
            }
        }
    }
    diagram
}

fn group_index(diagram: &mut Diagram, name: &str) -> usize {
    if let Some(found) = diagram.groups.iter().position(|group| group.name == name) {
        return found;
    }
    let parent = name.rsplit_once('.').map(|(outer, _)| group_index(diagram, outer));
    diagram.groups.push(Group { name: name.to_owned(), model: "cell".to_owned(), parent });
    diagram.groups.len() - 1
}

fn index(diagram: &Diagram, name: &str) -> usize {
    let name = name.trim();
    diagram.nodes.iter().position(|node| node.name == name).unwrap_or_else(|| panic!("node {name}"))
}

fn bonds(diagram: &mut Diagram, line: &str) {
    let spaced = line.replace("|->", " |-> ").replace("->|", " ->| ");
    let mut words: Vec<String> = Vec::new();
    for word in spaced.split_whitespace() {
        if word.contains("->") || words.last().is_none_or(|last| last.contains("->")) {
            words.push(word.to_owned());
        } else {
            words.last_mut().expect("a word").push_str(word);
        }
    }
    for stage in words.windows(3).step_by(2) {
        let stroke = match stage[1].as_str() {
            "->|" => Stroke::AtTo,
            "|->" => Stroke::AtFrom,
            _ => Stroke::None,
        };
        for from in stage[0].split(',') {
            for to in stage[2].split(',') {
                let (from, to) = (index(diagram, from), index(diagram, to));
                let number = diagram.bonds.len() + 1;
                diagram.bonds.push(Bond { stroke, ..Bond::new(from, to, number) });
            }
        }
    }
}

/// All graphs of the gallery.
pub fn all() -> Vec<Diagram> {
    let mut list: Vec<Diagram> = SMALL.iter().map(|(title, text)| diagram(title, text)).collect();
    list.extend([
        ladder(6),
        chain(6),
        transformer_chain(5),
        star(9),
        star(24),
        long_chain(100),
        mesh(7, 7),
        loop_chain(5),
        cells(4),
    ]);
    list
}

/// Graphs written out by hand.
pub const SMALL: &[(&str, &str)] = &[
    (
        "motor",
        "Se supply = E; Se load = Mload; 1 armature; 1 shaft; R winding = Ra; I coil = La; GY motor = kT
         R bearing = Rm; I rotor = Jm
         supply ->| armature; armature |-> winding; armature ->| coil; armature |-> motor
         motor |-> shaft; shaft |-> bearing; shaft ->| rotor; load ->| shaft",
    ),
    (
        "rlc",
        "Se source = U; 1 mesh; R r = R1; I l = L1; C c = C1
         source ->| mesh; mesh |-> r; mesh ->| l; mesh |-> c",
    ),
    (
        "conical_tanks",
        "Sf pump = Qin; 0 left; 0 right; 1 pipe; C tank1 = V(h); C tank2 = V(h); R valve = beta; R outlet = beta2
         pump |-> left; left |-> tank1; left ->| pipe; pipe ->| valve; pipe |-> right; right |-> tank2; right ->| outlet",
    ),
    (
        "two_carts",
        "Se force = F; 1 v1; 1 v2; I m1 = m1; I m2 = m2; 0 between; 1 stretch; C spring = 1/k; R damper = b; R ground = b1
         force ->| v1; v1 ->| m1; v1 |-> ground; v1 |-> between; between |-> v2; v2 ->| m2; between ->| stretch
         stretch |-> spring; stretch |-> damper",
    ),
    (
        "bridge",
        "Se battery = E; 1 supply; 0 top; 0 left; 0 right; 0 bottom; 1 a; 1 b; 1 c; 1 d; 1 m
         R ra; R rb; R rc; R rd; R rm; R ri
         battery -> supply; supply -> ri; supply -> top; top -> a -> left; top -> b -> right
         left -> c -> bottom; right -> d -> bottom; left -> m -> right; bottom -> supply
         a -> ra; b -> rb; c -> rc; d -> rd; m -> rm",
    ),
    (
        "three_coupled_loops",
        "Se e1 = E1; 1 i1; 1 i2; 1 i3; 0 n12; 0 n23; 0 n31; I l1 = L1; I l2 = L2; I l3 = L3; C c12 = C12; C c23 = C23; C c31 = C31; R r1 = R1
         e1 -> i1; i1 -> l1; i1 -> r1; i2 -> l2; i3 -> l3; i1 -> n12 -> i2; i2 -> n23 -> i3; i3 -> n31 -> i1
         n12 -> c12; n23 -> c23; n31 -> c31",
    ),
    (
        "gyrator_ring",
        "1 a; 1 b; 1 c; 1 d; GY g1 = r1; GY g2 = r2; GY g3 = r3; GY g4 = r4; I ia; I ib; I ic; I id; Se s = u
         a -> g1 -> b; b -> g2 -> c; c -> g3 -> d; d -> g4 -> a; a -> ia; b -> ib; c -> ic; d -> id; s -> a",
    ),
    (
        "coils",
        "Se u = U; 1 primary; 1 secondary; R r1 = R1; R r2 = R2; I core[2] = [[L1, M], [M, L2]]; R load = RL
         u ->| primary; primary |-> r1; primary ->| core; core |-> secondary; secondary |-> r2; secondary |-> load",
    ),
    (
        "field_of_three",
        "C field[3] = matrix; 1 x; 1 y; 1 z; I mx = m; I my = m; I mz = m; R rx; Se fx = F
         x -> field; y -> field; z -> field; x -> mx; y -> my; z -> mz; fx -> x; y -> rx",
    ),
    (
        "disconnected",
        "Se a = A; 1 ja; R ra = R1; C ca = C1; a -> ja; ja -> ra; ja -> ca
         Sf b = B; 0 jb; R rb = R2; C cb = C2; b -> jb; jb -> rb; jb -> cb; I alone = L",
    ),
    (
        "modulated",
        "Se torque = T; 1 crank; MTF slider = r*sin(theta); 1 piston; I wheel = J; I mass = m; Se gas = p*A; block theta; De gauge; Sw clutch; 0 film
         torque -> crank; crank -> wheel; crank -> slider -> film -> piston; piston -> mass; gas -> piston; film -> gauge; film -> clutch
         signal theta -> slider; signal wheel -> theta",
    ),
    (
        "parallel_bonds",
        "1 a; 0 b; TF t = n; R r; Se s; C c; s -> a; a -> b; a -> t -> b; b -> c; b -> r",
    ),
    (
        "crossing",
        "0 a; 0 b; 0 c; 1 d; 1 e; 1 f; a -> d, e, f; b -> d, e, f; c -> d, e, f; C ca; C cb; C cc; I id; I ie; I if
         a -> ca; b -> cb; c -> cc; d -> id; e -> ie; f -> if",
    ),
    (
        "hub",
        "0 hub; 1 a; 1 b; 1 c; 1 d; 1 e; 1 f; hub -> a, b, c, d, e, f; a -> b; b -> c; c -> d; d -> e; e -> f; f -> a; C c0 = C; R r0 = R
         hub -> c0; hub -> r0; I ia; I ib; a -> ia; b -> ib",
    ),
];

/// An electrical ladder with its loops closed through a common ground junction.
pub fn ladder(cells: usize) -> Diagram {
    let mut text = String::from("Se source = U; 1 s0; R r0 = R; source -> s0; s0 -> r0;");
    for cell in 1..=cells {
        text += &format!("0 p{cell}; C c{cell} = C; s{} -> p{cell}; p{cell} -> c{cell};", cell - 1);
        text += &format!("1 s{cell}; I l{cell} = L; p{cell} -> s{cell}; s{cell} -> l{cell};");
    }
    text += &format!("R end = Rl; s{cells} -> end");
    diagram("ladder", &text)
}

/// Masses joined by springs and dampers.
pub fn chain(masses: usize) -> Diagram {
    let mut text = String::from("Se force = F; ");
    for mass in 1..=masses {
        text += &format!("1 v{mass}; I m{mass} = m;");
        if mass > 1 {
            text += &format!(
                "0 f{mass}; 1 x{mass}; C k{mass} = 1/k; R b{mass} = b; f{mass} -> x{mass}; x{mass} -> k{mass}, b{mass};"
            );
            text += &format!("v{} -> f{mass} -> v{mass};", mass - 1);
        } else {
            text += "force -> v1;";
        }
        text += &format!("v{mass} -> m{mass};");
    }
    diagram("chain", &text)
}

fn transformer_chain(count: usize) -> Diagram {
    let mut text = String::from("Se in = u; 1 j0; in -> j0;");
    for stage in 1..=count {
        text += &format!(
            "TF t{stage} = n{stage}; 1 j{stage}; R r{stage} = R{stage}; j{} -> t{stage} -> j{stage}; j{stage} -> r{stage};",
            stage - 1
        );
    }
    diagram("transformer_chain", &text)
}

/// One junction with many elements.
pub fn star(count: usize) -> Diagram {
    let mut text = String::from("Se in = u; 1 hub; in -> hub;");
    for index in 1..=count {
        let kind = ["R", "C", "I"][index % 3];
        text += &format!("{kind} part{index} = P{index}; hub -> part{index};");
    }
    diagram(&format!("star_{count}"), &text)
}

/// A chain of three hundred elements.
pub fn long_chain(cells: usize) -> Diagram {
    let mut diagram = ladder(cells);
    diagram.title = "long_chain".to_owned();
    diagram
}

/// A mesh of junctions, each with an element.
pub fn mesh(rows: usize, columns: usize) -> Diagram {
    let mut text = String::from("Se source = u;");
    for row in 0..rows {
        for column in 0..columns {
            text += &format!("0 n{row}_{column}; C c{row}_{column} = C; n{row}_{column} -> c{row}_{column};");
            if column > 0 {
                text +=
                    &format!("1 h{row}_{column}; R rh{row}_{column}; h{row}_{column} -> rh{row}_{column};");
                text += &format!("n{row}_{} -> h{row}_{column} -> n{row}_{column};", column - 1);
            }
            if row > 0 {
                text +=
                    &format!("1 v{row}_{column}; R rv{row}_{column}; v{row}_{column} -> rv{row}_{column};");
                text += &format!("n{}_{column} -> v{row}_{column} -> n{row}_{column};", row - 1);
            }
        }
    }
    text += "source -> n0_0";
    diagram("mesh", &text)
}

/// Small loops one after the other, joined by single bonds.
pub fn loop_chain(count: usize) -> Diagram {
    let mut text = String::from("Se source = u; 1 j0; source -> j0;");
    for index in 1..=count {
        text += &format!(
            "0 a{index}; 1 u{index}; 1 w{index}; 0 b{index}; 1 j{index}; C cu{index} = C; R rw{index} = R; I i{index} = L;"
        );
        text += &format!(
            "j{} -> a{index}; a{index} -> u{index} -> b{index}; a{index} -> w{index} -> b{index}; b{index} -> j{index};",
            index - 1
        );
        text += &format!("u{index} -> cu{index}; w{index} -> rw{index}; j{index} -> i{index};");
    }
    diagram("loop_chain", &text)
}

/// A chain of submodels.
pub fn cells(count: usize) -> Diagram {
    let mut text = String::from("Se force = F; 1 start; force -> start;");
    let mut last = "start".to_owned();
    for cell in 1..=count {
        text += &format!(
            "0 c{cell}.f; 1 c{cell}.x; C c{cell}.k = 1/k; R c{cell}.b = b; 1 c{cell}.v; I c{cell}.m = m;"
        );
        text += &format!(
            "{last} -> c{cell}.f; c{cell}.f -> c{cell}.x; c{cell}.x -> c{cell}.k, c{cell}.b; c{cell}.f -> c{cell}.v; c{cell}.v -> c{cell}.m;"
        );
        last = format!("c{cell}.v");
    }
    diagram("cells", &text)
}
