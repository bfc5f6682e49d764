//! Checks of a drawing's geometry.

use paynter_draw::draw::{Drawing, Point, Rect, segments_cross};

/// Every piece of text with the nodes it belongs to.
pub fn texts(drawing: &Drawing) -> Vec<(String, Rect, Vec<usize>)> {
    let mut texts = Vec::new();
    for (index, node) in drawing.nodes.iter().enumerate() {
        texts.push((node.name.clone(), node.main, vec![index]));
        texts.extend(node.aside.map(|aside| (format!("{} beside", node.name), aside, vec![])));
    }
    for bond in &drawing.bonds {
        texts.extend(
            bond.labels.iter().map(|(text, rect)| (format!("{text} of {}", bond.note), *rect, vec![])),
        );
    }
    texts.extend(drawing.groups.iter().map(|group| (group.name.clone(), group.label, vec![])));
    texts
}

/// Checks that no text covers another or a bond.
pub fn check_labels(drawing: &Drawing) {
    let texts = texts(drawing);
    for (index, (name, rect, _)) in texts.iter().enumerate() {
        let rect = rect.grown(-0.5);
        for (other, theirs, _) in &texts[..index] {
            assert!(!rect.overlaps(*theirs), "{}: {name} over {other}", drawing.title);
        }
    }
    let ways = drawing.bonds.iter().map(|bond| (&bond.way, vec![bond.from, bond.to], &bond.note));
    for (way, ends, note) in ways {
        for (name, rect, nodes) in &texts {
            let own = nodes.iter().any(|node| ends.contains(node));
            let rect = if own { rect.grown(-1.5) } else { rect.grown(-0.5) };
            let hit = way.windows(2).any(|pair| rect.crossed_by(pair[0], pair[1]));
            assert!(!hit, "{}: {note} runs over {name}", drawing.title);
        }
    }
    for group in &drawing.groups {
        let frame = group.outline.iter().map(|&point| Rect::spanning(point, point)).reduce(Rect::union);
        assert!(frame.is_some_and(|frame| frame.width() > 20.0), "{}: {}", drawing.title, group.name);
    }
}

/// Counts the crossings of bonds.
pub fn crossings(drawing: &Drawing) -> usize {
    let pieces: Vec<(usize, Point, Point)> = drawing
        .bonds
        .iter()
        .enumerate()
        .flat_map(|(index, bond)| bond.way.windows(2).map(move |pair| (index, pair[0], pair[1])))
        .collect();
    let mut count = 0;
    for (index, &(bond, a, b)) in pieces.iter().enumerate() {
        for &(other, c, d) in &pieces[..index] {
            count += usize::from(bond != other && segments_cross(a, b, c, d));
        }
    }
    count
}
