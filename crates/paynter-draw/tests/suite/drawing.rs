//! What a lecturer may expect of a drawing, checked from its geometry.

#![allow(clippy::expect_used, clippy::panic)]

use crate::gallery;

use gallery::checks::{check_labels, crossings};
use gallery::{cells, chain, diagram, long_chain, mesh, star};
use paynter_draw::draw::{
    Bond, Diagram, DrawOptions, Drawing, Fold, Node, NodeKind, Point, Positions, Rect, Stroke, SvgStyle,
    Theme, draw, draw_at, flow_side, png, segments_cross, svg,
};
use paynter_graph::Kind;

fn option_sets() -> Vec<DrawOptions> {
    let plain = DrawOptions::default();
    vec![
        plain.clone(),
        DrawOptions { numbers: true, ..plain.clone() },
        DrawOptions { variables: true, letters: true, ..plain.clone() },
        DrawOptions { boxes: true, values: false, ..plain },
    ]
}

#[test]
fn no_text_covers_another_or_a_bond() {
    for options in option_sets() {
        for diagram in gallery::all() {
            check_labels(&draw(&diagram, &options));
        }
    }
}

#[test]
fn planar_graphs_are_drawn_without_crossings() {
    for diagram in gallery::all() {
        let count = crossings(&draw(&diagram, &DrawOptions::default()));
        let allowed = usize::from(diagram.title == "crossing");
        assert_eq!(count, allowed, "{}", diagram.title);
    }
}

#[test]
fn arrows_and_strokes_stand_at_their_ends() {
    let on_border = |rect: Rect, point: Point| {
        let inside = rect.grown(0.6);
        let within = inside.left <= point.x
            && point.x <= inside.right
            && inside.top <= point.y
            && point.y <= inside.bottom;
        let core = rect.grown(-0.6);
        within
            && !(core.left < point.x && point.x < core.right && core.top < point.y && point.y < core.bottom)
    };
    for mut diagram in gallery::all() {
        for (index, bond) in diagram.bonds.iter_mut().enumerate() {
            bond.stroke = [Stroke::AtFrom, Stroke::AtTo, Stroke::None][index % 3];
        }
        let drawing = draw(&diagram, &DrawOptions { fold: Fold::Never, ..DrawOptions::default() });
        for (bond, drawn) in diagram.bonds.iter().zip(&drawing.bonds) {
            let name = format!("{}: {}", diagram.title, drawn.note);
            let (tail, tip) = (drawn.way[0], drawn.way[drawn.way.len() - 1]);
            let (first, second) = (drawing.nodes[bond.from].main, drawing.nodes[bond.to].main);
            // A slanted bond stands off where it or its stroke would run into the box or the stroke of another.
            let stands = |rect: Rect, end: Point, next: Point| {
                let level = (next.x - end.x).abs() < 1e-6 || (next.y - end.y).abs() < 1e-6;
                let near = Rect::spanning(end, end).grown(40.0).overlaps(rect);
                let crossed = drawn.stroke.is_some_and(|(a, b)| rect.grown(-0.01).crossed_by(a, b));
                near && !crossed && (!level || on_border(rect, end))
            };
            assert!(stands(first, tail, drawn.way[1]), "{name} starts at {tail:?}");
            assert!(stands(second, tip, drawn.way[drawn.way.len() - 2]), "{name} ends at {tip:?}");
            // The barb points back from the tip, on the side of the flow.
            let back = drawn.way[drawn.way.len() - 2];
            let side = flow_side(back, tip);
            let (dx, dy) = (drawn.barb.x - tip.x, drawn.barb.y - tip.y);
            assert!(dx * side.x + dy * side.y > 3.0, "{name}: barb on the side of effort");
            assert!((back.x - tip.x) * dx + (back.y - tip.y) * dy > 0.0, "{name}: barb ahead of the tip");
            let (end, next) = match bond.stroke {
                Stroke::None => {
                    assert!(drawn.stroke.is_none(), "{name}");
                    continue;
                }
                Stroke::AtFrom => (tail, drawn.way[1]),
                Stroke::AtTo => (tip, back),
            };
            let (a, b) = drawn.stroke.expect("a stroke");
            assert!(a.toward(b, 0.5).distance(end) < 1e-6, "{name}: stroke at the wrong end");
            let across = (b.x - a.x) * (next.x - end.x) + (b.y - a.y) * (next.y - end.y);
            assert!(across.abs() < 1e-6, "{name}: stroke not square");
            let node = if bond.stroke == Stroke::AtFrom { bond.from } else { bond.to };
            let beside: Vec<_> =
                drawing.bonds.iter().filter(|other| other.from == node || other.to == node).collect();
            for other in beside.iter().filter(|other| beside.len() < 9 && other.note != drawn.note) {
                let crossed = other.way.windows(2).any(|pair| segments_cross(a, b, pair[0], pair[1]));
                assert!(!crossed, "{name}: the stroke crosses {}", other.note);
            }
        }
    }
}

#[test]
fn flows_stand_below_and_at_the_right() {
    let p = Point::new;
    for (b, side) in [
        (p(9.0, 0.0), p(0.0, 1.0)),
        (p(-9.0, 0.0), p(0.0, 1.0)),
        (p(0.0, 9.0), p(1.0, 0.0)),
        (p(0.0, -9.0), p(1.0, 0.0)),
    ] {
        assert!(flow_side(p(0.0, 0.0), b).distance(side) < 1e-9);
    }
}

#[test]
fn the_backbone_is_straight_and_power_flows_to_the_right() {
    for (title, names) in [
        ("motor", &["supply", "armature", "motor", "shaft", "load"][..]),
        ("conical_tanks", &["pump", "left", "pipe", "right", "outlet"]),
        ("two_carts", &["force", "v1", "between", "v2", "m2"]),
        (
            "ladder",
            &["source", "s0", "p1", "s1", "p2", "s2", "p3", "s3", "p4", "s4", "p5", "s5", "p6", "s6", "end"],
        ),
        ("transformer_chain", &["in", "j0", "t1", "j1", "t2", "j2", "t3", "j3"]),
        ("loop_chain", &["source", "j0", "a1", "b1", "j1", "a2", "b2", "j2", "a3", "b3"]),
    ] {
        let diagram = gallery::all().into_iter().find(|diagram| diagram.title == title).expect("known");
        let drawing = draw(&diagram, &DrawOptions::default());
        let place = |name: &str| drawing.nodes.iter().find(|node| node.name == name).expect("drawn").at;
        for pair in names.windows(2) {
            let (a, b) = (place(pair[0]), place(pair[1]));
            assert!((a.y - b.y).abs() < 1e-6 && a.x < b.x, "{title}: {} {a:?}, {} {b:?}", pair[0], pair[1]);
        }
        // Where no junction is over-full, every bond is level or upright.
        for bond in &drawing.bonds {
            for pair in bond.way.windows(2) {
                let (dx, dy) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
                assert!(dx.abs() < 1e-6 || dy.abs() < 1e-6, "{title}: {} is slanted", bond.note);
            }
        }
    }
}

#[test]
fn the_same_model_gives_the_same_picture() {
    for diagram in gallery::all() {
        let picture = |diagram: &Diagram| svg(&draw(diagram, &DrawOptions::default()), &SvgStyle::default());
        assert_eq!(picture(&diagram), picture(&diagram.clone()), "{}", diagram.title);
    }
}

/// A resistor more: bonds keep their directions, and few change their length.
#[test]
fn a_small_change_moves_little() {
    for (mut diagram, at) in
        [(chain(6), "v3"), (mesh(5, 5), "h2_2"), (diagram("motor", gallery::SMALL[0].1), "shaft")]
    {
        let before = draw(&diagram, &DrawOptions::default());
        let hub = diagram.nodes.iter().position(|node| node.name == at).expect("known");
        diagram.nodes.push(Node::new(NodeKind::Element(Kind::R), "extra").value("R"));
        let number = diagram.bonds.len() + 1;
        diagram.bonds.push(Bond::new(hub, diagram.nodes.len() - 1, number));
        let after = draw(&diagram, &DrawOptions::default());
        let (mut turned, mut stretched) = (0, 0);
        for bond in &before.bonds {
            let vector = |drawing: &Drawing| {
                let (a, b) = (drawing.nodes[bond.from].at, drawing.nodes[bond.to].at);
                Point::new(b.x - a.x, b.y - a.y)
            };
            let (old, new) = (vector(&before), vector(&after));
            turned +=
                usize::from(Point::default().direction(old).distance(Point::default().direction(new)) > 0.1);
            stretched += usize::from(old.distance(new) > 60.0);
        }
        let few = before.bonds.len().div_ceil(8);
        assert!(
            turned <= few && stretched <= few,
            "{}: {turned} turned, {stretched} stretched",
            diagram.title
        );
    }
}

#[test]
fn unconnected_parts_are_drawn_apart() {
    let diagram = gallery::all().into_iter().find(|diagram| diagram.title == "disconnected").expect("known");
    let drawing = draw(&diagram, &DrawOptions::default());
    let frame = |names: &[&str]| {
        drawing
            .nodes
            .iter()
            .filter(|node| names.contains(&node.name.as_str()))
            .map(|node| node.main)
            .reduce(Rect::union)
            .expect("drawn")
    };
    let parts = [frame(&["a", "ja", "ra", "ca"]), frame(&["b", "jb", "rb", "cb"]), frame(&["alone"])];
    for (index, part) in parts.iter().enumerate() {
        for other in &parts[..index] {
            assert!(!part.grown(15.0).overlaps(*other));
        }
    }
}

#[test]
fn three_thousand_elements_are_laid_out() {
    let diagram = mesh(23, 23);
    assert!(diagram.nodes.len() >= 3_000);
    let drawing = draw(&diagram, &DrawOptions::default());
    assert!(drawing.nodes.iter().all(|node| node.at.x.is_finite() && node.at.y.is_finite()));
    assert_eq!(drawing.bonds.len(), diagram.bonds.len());
    check_labels(&draw(&long_chain(300), &DrawOptions::default()));
}

#[test]
fn large_models_are_folded_by_submodel() {
    let diagram = cells(60);
    let folded = draw(&diagram, &DrawOptions::default());
    assert_eq!(folded.nodes.iter().filter(|node| node.kind == NodeKind::Submodel).count(), 60);
    assert_eq!(folded.nodes.len(), 62);
    assert_eq!(folded.bonds.len(), 61);
    check_labels(&folded);
    let whole = draw(&diagram, &DrawOptions { fold: Fold::Never, ..DrawOptions::default() });
    assert_eq!(whole.nodes.len(), diagram.nodes.len());
    let small = draw(&cells(3), &DrawOptions { fold: Fold::Depth(0), ..DrawOptions::default() });
    assert_eq!(small.nodes.len(), 5);
}

#[test]
fn boxes_hold_their_members_and_nobody_else() {
    let diagram = cells(4);
    let drawing = draw(&diagram, &DrawOptions { boxes: true, ..DrawOptions::default() });
    assert_eq!(drawing.groups.len(), 4);
    for (index, group) in drawing.groups.iter().enumerate() {
        let frame = group
            .outline
            .iter()
            .map(|&point| Rect::spanning(point, point))
            .reduce(Rect::union)
            .expect("drawn");
        for (node, drawn) in diagram.nodes.iter().zip(&drawing.nodes) {
            let member = node.group == Some(index);
            assert_eq!(frame.overlaps(drawn.main), member, "{} and {}", group.name, node.name);
        }
    }
}

#[test]
fn chosen_positions_are_kept() {
    let diagram = chain(4);
    let options = DrawOptions::default();
    let free = draw(&diagram, &options);
    let mut positions = Positions::of(&free);
    let kept = draw_at(&diagram, &options, &positions);
    for (a, b) in free.nodes.iter().zip(&kept.nodes) {
        assert!(a.at.distance(b.at) < 0.1, "{}", a.name);
    }
    // One element moved by hand, one forgotten, one that no longer exists.
    let mut places = positions.places().clone();
    places.insert("force".to_owned(), Point::new(-300.0, -200.0));
    places.remove("m2").expect("a mass of the chain");
    places.insert("gone".to_owned(), Point::new(0.0, 0.0));
    positions = Positions::new(places).expect("within range");
    assert_eq!(
        positions.unknown(&diagram.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>()),
        ["gone"]
    );
    let drawing = draw_at(&diagram, &options, &positions);
    let place = |name: &str| drawing.nodes.iter().find(|node| node.name == name).expect("drawn").at;
    assert_eq!(place("force"), Point::new(-300.0, -200.0));
    check_labels(&drawing);
    let far = [("a".to_owned(), Point::new(1e9, 0.0))].into_iter().collect();
    assert!(Positions::new(far).is_err());
}

#[test]
fn derived_graphs_and_highlights_have_classes_of_their_own() {
    use paynter_draw::draw::NodeStyle;
    let mut diagram = diagram("motor", gallery::SMALL[0].1);
    diagram.nodes[0].style = NodeStyle::AuxiliaryInput;
    diagram.nodes[1].style = NodeStyle::AddedSink;
    diagram.nodes[2].style = NodeStyle::Bad;
    diagram.nodes[3].highlighted = true;
    diagram.bonds[0].bold = true;
    diagram.bonds[1].highlighted = true;
    for theme in [Theme::Light, Theme::Dark] {
        let text = svg(&draw(&diagram, &DrawOptions::default()), &SvgStyle { theme, ..SvgStyle::default() });
        for class in [
            "node source auxiliary",
            "node source added",
            "node junction bad",
            "node junction marked",
            "bond vector",
            "bond marked",
        ] {
            assert!(text.contains(&format!("class=\"{class}\"")), "{class}");
        }
    }
    let with_font = SvgStyle { embed_font: true, transparent: true, ..SvgStyle::default() };
    assert!(svg(&draw(&diagram, &DrawOptions::default()), &with_font).contains("@font-face"));
}

#[test]
fn odd_graphs_are_drawn() {
    draw(&Diagram::default(), &DrawOptions::default());
    let mut odd = diagram("odd", "1 a; 0 b; R <&\">; a -> b; a -> b; a -> b; a -> b; a -> b; a -> b; a -> b");
    odd.bonds.push(Bond::new(0, 0, 8));
    let drawing = draw(&odd, &DrawOptions::default());
    assert_eq!(drawing.bonds.len(), 7);
    let text = svg(&drawing, &SvgStyle::default());
    assert!(png(&text, 1.0).is_ok());
    assert!(png(&text, 1e5).is_err());
    assert!(png("no picture", 1.0).is_err());
    check_labels(&draw(&star(60), &DrawOptions::default()));
}

/// Renders every picture; `PAYNTER_PICTURES` names a folder to keep them in.
#[test]
fn pictures_can_be_rendered() {
    let folder = std::env::var("PAYNTER_PICTURES").ok();
    for diagram in gallery::all() {
        let options = DrawOptions { boxes: true, ..DrawOptions::default() };
        let text = svg(&draw(&diagram, &options), &SvgStyle::default());
        if let Some(folder) = &folder {
            let bytes = png(&text, 1.5).expect("a picture");
            std::fs::write(format!("{folder}/{}.svg", diagram.title), &text).expect("written");
            std::fs::write(format!("{folder}/{}.png", diagram.title), bytes).expect("written");
        }
    }
}

/// A random connected graph: a tree with some bonds more.
fn random(seed: u64, nodes: usize, extra: usize) -> Diagram {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % limit
    };
    let kinds = [Kind::Zero, Kind::One, Kind::Gy, Kind::R, Kind::C, Kind::I, Kind::Se].map(NodeKind::Element);
    let mut diagram = Diagram { title: format!("random {seed}"), ..Diagram::default() };
    let inner = nodes / 2 + 1;
    for node in 0..nodes {
        let kind = if node < inner { kinds[below(3)] } else { kinds[3 + below(4)] };
        let name = "abcdefghijklmnop"[..1 + below(12)].to_owned() + &node.to_string();
        let value = if below(3) > 0 { "x*y+z*sin(w)"[..1 + below(12)].to_owned() } else { String::new() };
        let node = Node::new(kind, name);
        diagram.nodes.push(if value.is_empty() { node } else { node.value(value) });
    }
    let bond = |a: usize, b: usize, diagram: &mut Diagram| {
        let number = diagram.bonds.len() + 1;
        let stroke = [Stroke::AtFrom, Stroke::AtTo][number % 2];
        diagram.bonds.push(Bond { stroke, ..Bond::new(a, b, number) });
    };
    for node in 1..nodes {
        let parent = below(node.min(inner));
        bond(parent, node, &mut diagram);
    }
    for _ in 0..extra {
        let (a, b) = (below(inner), below(inner));
        if a != b {
            bond(a, b, &mut diagram);
        }
    }
    diagram
}

/// Graphs nobody has drawn before, from trees to graphs that cannot be drawn without crossings.
#[test]
fn random_graphs_are_legible() {
    for seed in 1..=60_u64 {
        let nodes = 3 + (seed as usize * 7) % 45;
        let diagram = random(seed, nodes, [0, 0, 1, 2, 4, 9][seed as usize % 6]);
        for options in &option_sets()[..3] {
            let drawing = draw(&diagram, options);
            check_labels(&drawing);
            if diagram.bonds.len() < diagram.nodes.len() + 2 {
                assert_eq!(crossings(&drawing), 0, "{}", diagram.title);
            }
        }
    }
}
