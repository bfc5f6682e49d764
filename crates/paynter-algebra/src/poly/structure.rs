//! The structure of sparse matrices: perfect matchings, block triangular form
//! (Dulmage and Mendelsohn, Tarjan), and orders of columns for which few
//! minors live at a time.

use std::collections::BTreeSet;

use super::minors::RowSet;

/// A square matrix in block triangular form. The rows of a block have entries
/// only in its own columns and in those of earlier blocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) columns: Vec<Vec<usize>>,
}

/// Finds the blocks; nothing if every determinant with this pattern is 0.
/// `pattern` lists the rows of the entries of each column.
pub(super) fn blocks(rows: usize, pattern: &[Vec<usize>]) -> Option<Blocks> {
    if rows != pattern.len() {
        return None;
    }
    let row_of = matching(rows, pattern)?;
    let mut column_of = vec![0; rows];
    for (column, &row) in row_of.iter().enumerate() {
        column_of[row] = column;
    }
    // Column j depends on column k where the row of j has an entry in k.
    let mut depends: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (column, entries) in pattern.iter().enumerate() {
        for &row in entries {
            if column_of[row] != column {
                depends[column_of[row]].push(column);
            }
        }
    }
    let columns = strong_components(&depends);
    let rows = columns.iter().map(|block| block.iter().map(|&c| row_of[c]).collect()).collect();
    Some(Blocks { rows, columns })
}

/// Gives each column a row of its own, by augmenting paths.
fn matching(rows: usize, pattern: &[Vec<usize>]) -> Option<Vec<usize>> {
    const FREE: usize = usize::MAX;
    let mut column_of = vec![FREE; rows];
    let mut row_of = vec![FREE; pattern.len()];
    let mut seen = vec![FREE; rows];
    // The diagonal first, then any free row: long paths are rarely needed.
    for (column, entries) in pattern.iter().enumerate() {
        if column_of.get(column) == Some(&FREE) && entries.contains(&column) {
            column_of[column] = column;
            row_of[column] = column;
        }
    }
    for (column, entries) in
        pattern.iter().enumerate().filter(|(c, _)| row_of[*c] == FREE).collect::<Vec<_>>()
    {
        if let Some(&row) = entries.iter().find(|&&row| column_of[row] == FREE) {
            column_of[row] = column;
            row_of[column] = row;
        }
    }
    for start in 0..pattern.len() {
        if row_of[start] != FREE {
            continue;
        }
        // Depth-first search over alternating paths with an explicit stack.
        let mut stack: Vec<(usize, usize)> = vec![(start, 0)];
        let mut path: Vec<usize> = Vec::new();
        let mut found = false;
        while let Some(&(column, next)) = stack.last() {
            let Some(&row) = pattern[column].get(next) else {
                stack.pop();
                path.pop();
                continue;
            };
            if let Some(top) = stack.last_mut() {
                top.1 += 1;
            }
            if seen[row] == start {
                continue;
            }
            seen[row] = start;
            path.push(row);
            if column_of[row] == FREE {
                found = true;
                break;
            }
            stack.push((column_of[row], 0));
        }
        if !found {
            return None;
        }
        for (&(column, _), &row) in stack.iter().zip(&path) {
            column_of[row] = column;
            row_of[column] = row;
        }
    }
    Some(row_of)
}

/// Returns the strongly connected components of a graph, each after those it
/// points to (Tarjan, with an explicit stack). Members ascend.
pub(super) fn strong_components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
    let mut waiting = vec![false; count];
    let (mut open, mut components, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if index[root] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                open.push(node);
                waiting[node] = true;
            }
            match edges[node].get(edge) {
                Some(&target) => {
                    calls.push((node, edge + 1));
                    if index[target] == NEW {
                        calls.push((target, 0));
                    } else if waiting[target] {
                        low[node] = low[node].min(index[target]);
                    }
                }
                None => {
                    if low[node] == index[node] {
                        let start = open.iter().rposition(|&n| n == node).unwrap_or(0);
                        let mut component = open.split_off(start);
                        component.iter().for_each(|&n| waiting[n] = false);
                        component.sort_unstable();
                        components.push(component);
                    }
                    if let Some(&(parent, _)) = calls.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                }
            }
        }
    }
    components
}

/// Returns whether a permutation is odd.
pub(super) fn is_odd(permutation: &[usize]) -> bool {
    let mut seen = vec![false; permutation.len()];
    let mut odd = false;
    for start in 0..permutation.len() {
        let mut place = start;
        let mut length = 0;
        while !seen[place] {
            seen[place] = true;
            place = permutation[place];
            length += 1;
        }
        odd ^= length > 0 && length % 2 == 0;
    }
    odd
}

/// An order of columns and the number of minors its expansion makes.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) columns: Vec<usize>,
    pub(super) minors: usize,
}

/// Chooses an order of columns in which few row sets are alive at a time;
/// nothing if every order tried makes more than `limit` minors.
pub(super) fn narrow_order(rows: usize, pattern: &[Vec<usize>], limit: usize) -> Option<Order> {
    let count = pattern.len();
    let mut by_degree: Vec<usize> = (0..count).collect();
    by_degree.sort_by_key(|&c| (pattern[c].len(), c));
    let tries = if count > 200 { 2 } else { 12 };
    let mut orders: Vec<Vec<usize>> = vec![(0..count).collect()];
    orders.extend(by_degree.iter().take(tries).map(|&start| greedy_order(rows, pattern, start)));
    // The column reached last from one end is a good other end.
    if let Some(&end) = orders.get(1).and_then(|o| o.last()) {
        orders.push(greedy_order(rows, pattern, end));
    }
    let mut best: Option<Order> = None;
    let mut failures = 0;
    for columns in orders {
        let cap = best.as_ref().map_or(limit, |b| b.minors.saturating_sub(1));
        match count_minors(rows, pattern, &columns, cap) {
            Some(minors) => best = Some(Order { columns, minors }),
            None => failures += usize::from(best.is_none()),
        }
        // A matrix that fills up in several orders fills up in all.
        if failures == 3 {
            break;
        }
    }
    best
}

/// Takes next the column that opens the fewest new rows and closes the most.
fn greedy_order(rows: usize, pattern: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut columns_of: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (column, entries) in pattern.iter().enumerate() {
        entries.iter().for_each(|&row| columns_of[row].push(column));
    }
    let mut left: Vec<usize> = columns_of.iter().map(Vec::len).collect();
    let mut open = vec![false; rows];
    let mut done = vec![false; pattern.len()];
    let mut near: BTreeSet<usize> = BTreeSet::new();
    let mut order = Vec::with_capacity(pattern.len());
    let mut next = start;
    loop {
        done[next] = true;
        near.remove(&next);
        order.push(next);
        for &row in &pattern[next] {
            open[row] = true;
            left[row] -= 1;
            near.extend(columns_of[row].iter().copied().filter(|&c| !done[c]));
        }
        let cost = |&column: &usize| {
            let opened = pattern[column].iter().filter(|&&r| !open[r]).count() as isize;
            let closed = pattern[column].iter().filter(|&&r| left[r] == 1).count() as isize;
            (opened - closed, pattern[column].len(), column)
        };
        let candidate = near.iter().copied().min_by_key(cost);
        match candidate.or_else(|| (0..pattern.len()).filter(|&c| !done[c]).min_by_key(cost)) {
            Some(column) => next = column,
            None => return order,
        }
    }
}

/// Counts the row sets that an expansion by these columns meets; nothing if
/// more than `cap`.
fn count_minors(rows: usize, pattern: &[Vec<usize>], order: &[usize], cap: usize) -> Option<usize> {
    let finishing = finishing_rows(rows, order.iter().map(|&c| pattern[c].as_slice()));
    let mut live: BTreeSet<RowSet> = BTreeSet::from([RowSet::new(rows)]);
    let mut finished = RowSet::new(rows);
    let mut total = 0;
    for (level, &column) in order.iter().enumerate() {
        finishing[level].iter().for_each(|&row| finished.insert(row));
        let mut next = BTreeSet::new();
        for set in &live {
            for &row in &pattern[column] {
                if !set.contains(row) {
                    let larger = set.with(row);
                    if finished.missing_from(&larger).is_empty() {
                        next.insert(larger);
                    }
                }
            }
            if total + next.len() > cap {
                return None;
            }
        }
        total += next.len();
        live = next;
    }
    Some(total)
}

/// Returns, for each place in a list of columns, the rows that have their last
/// entry there. Rows without entries are finished at the first.
pub(super) fn finishing_rows<'a>(
    rows: usize,
    columns: impl ExactSizeIterator<Item = &'a [usize]>,
) -> Vec<Vec<usize>> {
    let mut finishing = vec![Vec::new(); columns.len()];
    let mut last = vec![0; rows];
    for (level, entries) in columns.enumerate() {
        entries.iter().for_each(|&row| last[row] = level);
    }
    for (row, &level) in last.iter().enumerate() {
        if let Some(list) = finishing.get_mut(level) {
            list.push(row);
        }
    }
    finishing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangular_pattern_has_blocks_of_one() {
        // Column 0 has entries in all rows: x0 is found first.
        let pattern = vec![vec![0, 1, 2], vec![1, 2], vec![2]];
        let blocks = blocks(3, &pattern).unwrap();
        assert_eq!(blocks.columns, [[0], [1], [2]]);
        assert_eq!(blocks.rows, [[0], [1], [2]]);
    }

    #[test]
    fn a_pattern_without_matching_has_no_blocks() {
        assert_eq!(blocks(3, &[vec![0, 1], vec![0], vec![1]]), None);
        assert_eq!(blocks(2, &[vec![0], vec![]]), None);
    }

    #[test]
    fn parity_counts_transpositions() {
        assert!(!is_odd(&[0, 1, 2]));
        assert!(is_odd(&[1, 0, 2]));
        assert!(!is_odd(&[1, 2, 0]));
    }

    #[test]
    fn a_chain_keeps_few_minors_in_any_numbering() {
        // A tridiagonal matrix of 60 rows, numbered pseudo-randomly.
        let place: Vec<usize> = (0..60).map(|i| i * 37 % 60).collect();
        let mut pattern = vec![Vec::new(); 60];
        for i in 0..60usize {
            for j in i.saturating_sub(1)..(i + 2).min(60) {
                pattern[place[i]].push(place[j]);
            }
        }
        let order = narrow_order(60, &pattern, 10_000).unwrap();
        assert!(order.minors <= 3 * 60, "{}", order.minors);
    }
}
