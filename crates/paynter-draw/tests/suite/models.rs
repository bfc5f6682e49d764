//! Drawings of real models: every built-in example, and models with mistakes.

#![allow(clippy::expect_used)]

use crate::gallery;

use gallery::checks::{check_labels, crossings};
use paynter_algebra::Pool;
use paynter_base::{Diagnostics, MemoryWorld, SourceMap};
use paynter_draw::draw::{
    BlockDiagram, BlockKind, Diagram, DrawOptions, Fold, NodeKind, NodeStyle, Stroke, SvgStyle, blocks_svg,
    causal_path, draw, draw_blocks, png, svg,
};
use paynter_graph::{BondGraph, Causality, FlattenOptions, Kind, assign_causality, flatten};
use paynter_language::load;
use std::path::Path;

struct Model {
    pool: Pool,
    sources: SourceMap,
    diagnostics: Diagnostics,
    graph: BondGraph,
    causality: Option<Causality>,
}

impl Model {
    fn read(text: &str) -> Model {
        let world = MemoryWorld::new().with("model.bg", text);
        let loaded = load(&world, "model.bg");
        let mut diagnostics = loaded.diagnostics;
        let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
        let mut pool = Pool::new();
        let (graph, found) = flatten(&mut pool, &files, &FlattenOptions::default());
        diagnostics.extend(found);
        let graph = graph.expect("a graph");
        let mut causality = None;
        if !diagnostics.has_errors() {
            let (assigned, found) = assign_causality(&mut pool, &graph);
            diagnostics.extend(found);
            causality = assigned;
        }
        Model { pool, sources: loaded.sources, diagnostics, graph, causality }
    }

    fn diagram(&self) -> Diagram {
        Diagram::from_graph(
            &self.pool,
            &self.graph,
            self.causality.as_ref(),
            &self.sources,
            &self.diagnostics,
        )
    }

    fn element(&self, name: &str) -> paynter_graph::ElementId {
        self.graph.element_ids().find(|&id| self.graph.element(id).name == name).expect("an element")
    }
}

fn examples() -> Vec<(String, Model)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "bg"))
        .map(|file| {
            let text = std::fs::read_to_string(&file).expect("a model");
            (file.file_stem().expect("a name").to_string_lossy().into_owned(), Model::read(&text))
        })
        .collect()
}

/// Every example is drawn whole, legibly, with its strokes, and without needless crossings.
#[test]
fn every_example_is_drawn() {
    for (name, model) in examples() {
        let diagram = model.diagram();
        assert_eq!(diagram.bonds.len(), model.graph.bonds.len(), "{name}");
        for options in
            [DrawOptions::default(), DrawOptions { variables: true, boxes: true, ..DrawOptions::default() }]
        {
            let drawing = draw(&diagram, &options);
            check_labels(&drawing);
            assert_eq!(crossings(&drawing), 0, "{name}");
        }
        let Some(causality) = &model.causality else { continue };
        assert!(diagram.bonds.iter().all(|bond| bond.stroke != Stroke::None), "{name}");
        let blocks = BlockDiagram::from_graph(&model.pool, &model.graph, causality, &model.sources);
        let drawing = draw_blocks(&blocks);
        for (index, (block, rect)) in drawing.blocks.iter().enumerate() {
            for (other, theirs) in &drawing.blocks[..index] {
                assert!(!rect.overlaps(*theirs), "{name}: {} over {}", block.text, other.text);
            }
            for &(a, b) in &drawing.lines {
                assert!(!rect.grown(-6.0).crossed_by(a, b), "{name}: a wire through {}", block.text);
            }
        }
    }
}

/// The pictures of the handbook are those of the examples. `UPDATE=1` rewrites
/// them; `PAYNTER_PICTURES` names a folder to look at them as PNG.
#[test]
fn the_pictures_of_the_handbook_are_current() {
    let plain = DrawOptions::default();
    let mut pictures = Vec::new();
    for (name, model) in examples() {
        let diagram = model.diagram();
        let mut add = |suffix: &str, diagram: &Diagram, options: &DrawOptions| {
            pictures.push((format!("{name}{suffix}"), svg(&draw(diagram, options), &SvgStyle::default())));
        };
        add("", &diagram, &plain);
        match name.as_str() {
            "chain" => {
                add("_boxes", &diagram, &DrawOptions { boxes: true, ..plain.clone() });
                add("_folded", &diagram, &DrawOptions { fold: Fold::Depth(0), ..plain.clone() });
            }
            "dc_motor" => {
                add("_variables", &diagram, &DrawOptions { variables: true, ..plain.clone() });
                let causality = model.causality.as_ref().expect("causal");
                let (from, to) = (model.element("supply"), model.element("rotor"));
                let (bonds, elements) = causal_path(&model.graph, causality, from, to).expect("a path");
                let mut marked = diagram.clone();
                marked.highlight(&bonds, &elements);
                add("_path", &marked, &plain);
                let blocks = BlockDiagram::from_graph(&model.pool, &model.graph, causality, &model.sources);
                pictures.push((
                    "dc_motor_sfg".to_owned(),
                    blocks_svg(&draw_blocks(&blocks), &SvgStyle::default()),
                ));
            }
            _ => {}
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/pictures");
    for (name, text) in pictures {
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).expect("written");
        }
        if let Ok(folder) = std::env::var("PAYNTER_PICTURES") {
            std::fs::write(format!("{folder}/{name}.png"), png(&text, 2.0).expect("a picture"))
                .expect("written");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "pictures/{name}.svg is out of date; `UPDATE=1 cargo test -p paynter-draw` rewrites it"
        );
    }
}

const MOTOR: &str = "model motor {
    param Ra = 2; param La = 1; param kT = 1; param Jm = 1
    input E = 12
    Se supply = E
    1 armature; 1 shaft
    R winding = Ra   // copper
    I coil = La
    GY motor = kT
    I rotor = Jm
    supply -> armature -> winding, coil, motor
    motor -> shaft -> rotor
    output w = rotor.f
}";

#[test]
fn values_are_shown_as_written_and_strokes_as_assigned() {
    let model = Model::read(MOTOR);
    let diagram = model.diagram();
    let node = |name: &str| diagram.nodes.iter().find(|node| node.name == name).expect("drawn");
    assert_eq!(node("winding").value.as_deref(), Some("Ra"));
    assert_eq!(node("motor").kind, NodeKind::Element(Kind::Gy));
    // Both inertias are in integral causality: effort enters them.
    for bond in &diagram.bonds {
        if diagram.nodes[bond.to].kind == NodeKind::Element(Kind::I) {
            assert_eq!(bond.stroke, Stroke::AtTo);
        }
    }
}

#[test]
fn causal_paths_follow_the_strokes() {
    let model = Model::read(MOTOR);
    let causality = model.causality.as_ref().expect("causal");
    let (bonds, elements) =
        causal_path(&model.graph, causality, model.element("supply"), model.element("rotor"))
            .expect("a path");
    let names: Vec<&str> = elements.iter().map(|&id| model.graph.element(id).name.as_str()).collect();
    // The supply's effort reaches the coil, whose flow the gyrator turns into the rotor's torque.
    assert_eq!(names, ["supply", "armature", "coil", "armature", "motor", "shaft", "rotor"]);
    let mut diagram = model.diagram();
    diagram.highlight(&bonds, &elements);
    assert_eq!(diagram.nodes.iter().filter(|node| !node.highlighted).count(), 1);
    assert!(causal_path(&model.graph, causality, model.element("rotor"), model.element("supply")).is_some());
    assert!(
        causal_path(&model.graph, causality, model.element("armature"), model.element("armature")).is_some()
    );
}

#[test]
fn the_signal_flow_graph_has_the_gains_of_the_laws() {
    let model = Model::read(MOTOR);
    let causality = model.causality.as_ref().expect("causal");
    let blocks = BlockDiagram::from_graph(&model.pool, &model.graph, causality, &model.sources);
    let texts: Vec<&str> = blocks
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Function)
        .map(|block| block.text.as_str())
        .collect();
    assert_eq!(texts, ["Ra", "1/(La s)", "kT", "kT", "1/(Jm s)"]);
    // The armature: E − Ra i − kT w.
    let sum = blocks.blocks.iter().position(|block| block.kind == BlockKind::Sum).expect("a sum");
    let signs: Vec<bool> =
        blocks.wires.iter().filter(|wire| wire.to == sum).map(|wire| wire.negative).collect();
    assert_eq!(signs.iter().filter(|&&negative| negative).count(), 2);
    assert_eq!(signs.len(), 3);
}

#[test]
fn a_model_with_errors_is_drawn_with_the_bad_elements_marked() {
    let text = MOTOR.replace("I coil = La", "I coil = Lx");
    let model = Model::read(&text);
    assert!(model.diagnostics.has_errors());
    let diagram = model.diagram();
    assert_eq!(diagram.nodes.len(), 7);
    let bad: Vec<&str> = diagram
        .nodes
        .iter()
        .filter(|node| node.style == NodeStyle::Bad)
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(bad, ["coil"]);
    assert!(svg(&draw(&diagram, &DrawOptions::default()), &SvgStyle::default()).contains("node store bad"));
}

#[test]
fn modulating_signals_become_arrows() {
    let model = Model::read(
        "model crank {
            param J = 1; param m = 1
            Se torque = 1
            1 wheel; 1 slider
            I rim = J; I mass = m
            signal angle = integral(rim.f, 0)
            TF crank = sin(angle)
            torque -> wheel -> rim, crank
            crank -> slider -> mass
        }",
    );
    let diagram = model.diagram();
    let index = |name: &str| diagram.nodes.iter().position(|node| node.name == name).expect("drawn");
    let has = |from: &str, to: &str| {
        diagram.signals.iter().any(|signal| signal.from == index(from) && signal.to == index(to))
    };
    assert!(has("angle", "crank") && has("rim", "angle"), "{:?}", diagram.signals);
    assert!(diagram.nodes[index("crank")].modulated);
}
