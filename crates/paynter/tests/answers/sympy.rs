//! Linear models against SymPy, which solves one equation for each port
//! without any causality: random bond graphs of up to four junctions and the
//! linear examples, most of them from papers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::load;
use paynter::{CancellationToken, Plain, TERMS, examples};
use paynter_algebra::{Expr, Pool};
use paynter_graph::{BondGraph, Law};
use paynter_testkit::{Options, generate};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The graph as plain data, and what Paynter says of it; none where it is not linear.
fn case(name: &str, text: &str) -> Option<Value> {
    let model = load(text);
    let answer = model.equations(&CancellationToken::new()).ok()?;
    answer.space.as_ref()?;
    let equations = serde_json::to_value(answer.document(&Plain)).unwrap();
    let transfer = model.transfer(TERMS, &CancellationToken::new()).ok()?;
    let transfer = serde_json::to_value(transfer.document(&Plain)).unwrap();
    // A constant term has no transfer function; expressions of time are not for this oracle.
    if equations.get("offset").is_some() || !equations["definitions"].as_array().unwrap().is_empty() {
        return None;
    }
    let case = dump(name, answer.pool(), answer.graph(), equations, transfer);
    // The field of this oracle has no roots.
    (!case.to_string().contains("sqrt(")).then_some(case)
}

fn dump(name: &str, pool: &Pool, graph: &BondGraph, equations: Value, transfer: Value) -> Value {
    let text = |e: Expr| pool.display(e).to_string();
    let elements: Vec<Value> = graph
        .elements
        .iter()
        .map(|element| {
            let law = match &element.law {
                Law::Value(value) => json!({ "value": text(*value) }),
                Law::Matrix(rows) => {
                    let rows: Vec<Vec<String>> =
                        rows.iter().map(|row| row.iter().map(|e| text(*e)).collect()).collect();
                    json!({ "matrix": rows })
                }
                Law::Equations(list) => {
                    let list: Vec<[String; 2]> = list.iter().map(|e| [text(e.left), text(e.right)]).collect();
                    json!({ "equations": list })
                }
                _ => json!({}),
            };
            let ports: Vec<Value> = element
                .ports
                .iter()
                .map(|port| json!({ "bond": flat(&graph.bond(port.bond).name), "into": port.into }))
                .collect();
            json!({ "name": flat(&element.name), "kind": element.kind.word(), "law": law, "ports": ports })
        })
        .collect();
    json!({
        "case": name,
        "parameters": graph.parameters.iter().map(|p| flat(&p.name)).collect::<Vec<_>>(),
        "inputs": graph.inputs.iter().map(|i| flat(&i.name)).collect::<Vec<_>>(),
        "elements": elements,
        "bonds": graph.bonds.iter().map(|b| json!({ "name": flat(&b.name) })).collect::<Vec<_>>(),
        "signals": graph.signals.iter().map(|s| json!({ "name": flat(&s.name), "value": text(s.value) })).collect::<Vec<_>>(),
        "integrators": graph.integrators.iter().map(|s| json!({ "name": flat(&s.name), "rate": text(s.rate) })).collect::<Vec<_>>(),
        "outputs": graph.outputs.iter().map(|o| json!({ "name": flat(&o.name), "value": text(o.value) })).collect::<Vec<_>>(),
        "equations": equations,
        "tf": transfer,
    })
}

fn flat(name: &str) -> String {
    paynter_graph::flat_name(name)
}

#[test]
fn sympy_agrees() {
    let python =
        paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap_or_else(|e| panic!("{e}"));
    let mut cases: Vec<Value> = examples::all()
        .filter(|example| example.name != "chain")
        .filter_map(|example| case(example.name, example.text))
        .collect();
    assert!(cases.len() > 12, "{} linear examples", cases.len());
    let options = Options::linear().small();
    cases.extend((0..60).filter_map(|seed| case(&format!("seed {seed}"), &generate(seed, &options).text)));
    assert!(cases.len() > 60, "only {} cases", cases.len());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles/acausal.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(serde_json::to_string(&cases).unwrap().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), format!("{} judged", cases.len()), "{errors}");
}
