//! What Paynter writes by hand beside libraries that could do a part of it, one
//! thread each: the reader of measured data beside `csv`, plots beside
//! `plotters`, the layout of bond graphs beside `layout-rs`. `cargo run --release`.

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use paynter_base::{MemoryWorld, SourceMap, Span};
use paynter_draw::draw::{Bond, Diagram, DrawOptions, Node, NodeKind, SvgStyle, draw, segments_cross, svg};
use paynter_draw::plot::{Trace, plot_svg, time};
use paynter_graph::{Kind, Table};
use paynter_simulate::data::read;
use plotters::prelude::*;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

/// The time of one call in milliseconds: the best of several rounds.
fn time_of(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    1e3 * best
}

/// 500,000 lines of a time and two columns, of which one is asked for.
fn reader() {
    let mut text = String::from("t,u,v\n");
    for k in 0..500_000 {
        let t = f64::from(k) * 1e-3;
        let _ = writeln!(text, "{t},{:.6},{:.6}", t.sin(), t.cos());
    }
    let world = MemoryWorld::new().with("data.csv", text.clone());
    let table = Table { path: "data.csv".into(), column: "u".into(), span: Span::default() };
    let ours = time_of(|| {
        let samples = read(&world, &table, &mut SourceMap::new()).unwrap();
        assert_eq!(samples.values.len(), 500_000);
        black_box(samples);
    });
    let theirs = time_of(|| {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).unwrap() {
            times.push(record[0].parse::<f64>().unwrap());
            values.push(record[1].parse::<f64>().unwrap());
        }
        assert_eq!(values.len(), 500_000);
        black_box((times, values));
    });
    println!("{} MB of CSV: ours {ours:.0} ms, csv {theirs:.0} ms", text.len() / 1_000_000);
}

/// A decaying oscillation of so many points as a page of SVG.
fn plot(points: u32) {
    let t: Vec<f64> = (0..points).map(|k| 20.0 * f64::from(k) / f64::from(points)).collect();
    let values: Vec<f64> = t.iter().map(|t| (-0.1 * t).exp() * (5.0 * t).sin()).collect();
    let mut page = String::new();
    let ours = time_of(|| {
        let trace = Trace { name: "x".into(), unit: "m".into(), values: values.clone(), dashed: false };
        page = plot_svg(&time("oscillation", &t, &[trace]), &SvgStyle::default());
    });
    let mut rival = String::new();
    let theirs = time_of(|| {
        rival.clear();
        let area = SVGBackend::with_string(&mut rival, (760, 420)).into_drawing_area();
        let mut builder = ChartBuilder::on(&area);
        builder.caption("oscillation", ("sans-serif", 15)).margin(12);
        builder.x_label_area_size(40).y_label_area_size(50);
        let mut chart = builder.build_cartesian_2d(0.0..20.0, -1.0..1.0).unwrap();
        chart.configure_mesh().x_desc("t in s").y_desc("x in m").draw().unwrap();
        let points = t.iter().zip(&values).map(|(t, x)| (*t, *x));
        chart.draw_series(LineSeries::new(points, &BLUE)).unwrap();
        area.present().unwrap();
    });
    let kilobytes = |page: &str| page.len() / 1000;
    println!(
        "a curve of {points} points: ours {ours:.2} ms, {} kB; plotters {theirs:.2} ms, {} kB",
        kilobytes(&page),
        kilobytes(&rival)
    );
}

/// Sections of an electric ladder in a ring of `rows` by `columns` meshes: a mesh of junctions with storages.
fn mesh(rows: usize, columns: usize) -> Diagram {
    let mut diagram = Diagram { title: "mesh".into(), ..Diagram::default() };
    let mut add = |kind: Kind, name: String| {
        diagram.nodes.push(Node::new(NodeKind::Element(kind), name));
        diagram.nodes.len() - 1
    };
    let mut pairs = Vec::new();
    let mut zeros = vec![vec![0; columns]; rows];
    for (r, row) in zeros.iter_mut().enumerate() {
        for (c, zero) in row.iter_mut().enumerate() {
            *zero = add(Kind::Zero, format!("z{r}_{c}"));
            pairs.push((*zero, add(Kind::C, format!("C{r}_{c}"))));
        }
    }
    for r in 0..rows {
        for c in 0..columns {
            let right = (c + 1 < columns).then(|| (r, c + 1));
            let below = (r + 1 < rows).then(|| (r + 1, c));
            for (i, j) in right.into_iter().chain(below) {
                let one = add(Kind::One, format!("o{r}_{c}_{i}_{j}"));
                pairs.push((one, add(Kind::R, format!("R{r}_{c}_{i}_{j}"))));
                pairs.push((zeros[r][c], one));
                pairs.push((one, zeros[i][j]));
            }
        }
    }
    diagram.bonds = pairs.into_iter().map(|(from, to)| Bond { from, to, ..Bond::default() }).collect();
    diagram
}

fn layout_of(rows: usize, columns: usize) {
    let diagram = mesh(rows, columns);
    let mut page = String::new();
    let mut crossings = 0;
    let ours = time_of(|| {
        let drawing = draw(&diagram, &DrawOptions::default());
        page = svg(&drawing, &SvgStyle::default());
        let ways = || drawing.bonds.iter().map(|bond| &bond.way);
        let cross = |a: &[_], b: &[_]| a.windows(2).any(|p| b.windows(2).any(|q| segments_cross(p[0], p[1], q[0], q[1])));
        crossings = ways().enumerate().map(|(k, a)| ways().skip(k + 1).filter(|b| cross(a, b)).count()).sum();
    });
    let mut text = String::from("digraph {");
    for bond in &diagram.bonds {
        let _ = write!(text, "{} -> {};", diagram.nodes[bond.from].name, diagram.nodes[bond.to].name);
    }
    text.push('}');
    let mut rival = String::new();
    let theirs = time_of(|| {
        let mut builder = GraphBuilder::new();
        builder.visit_graph(&DotParser::new(&text).process().unwrap());
        let mut writer = SVGWriter::new();
        builder.get().do_it(false, false, false, &mut writer);
        rival = writer.finalize();
    });
    let size = |page: &str| {
        let number = |key: &str| -> f64 {
            let rest = page.split_once(key).map_or("", |(_, rest)| rest);
            rest.split('"').next().unwrap_or("").trim_end_matches("px").parse().unwrap_or(f64::NAN)
        };
        (number(" width=\""), number(" height=\""))
    };
    println!(
        "a mesh of {} elements: ours {ours:.1} ms, {:?} px, {crossings} crossings; layout-rs {theirs:.1} ms, {:?} px",
        diagram.nodes.len(),
        size(&page),
        size(&rival)
    );
}

fn main() {
    reader();
    plot(1000);
    plot(100_000);
    layout_of(2, 4);
    layout_of(4, 5);
}
