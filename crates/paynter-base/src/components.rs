//! Strongly connected components of a directed graph.

/// Groups the nodes 0 … n−1 of a directed graph into strongly connected
/// components. `next(v)` lists the successors of v. Components come with
/// successors first: everything a component leads to stands before it. The
/// nodes of a component are in rising order.
pub fn strong_components<'a>(nodes: usize, next: impl Fn(u32) -> &'a [u32]) -> Vec<Vec<u32>> {
    // Tarjan's algorithm with an explicit stack, because the depth is the model's.
    let mut number = vec![0u32; nodes];
    let mut low = vec![0u32; nodes];
    let mut placed = vec![false; nodes];
    let mut counter = 0;
    let mut stack: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let mut components = Vec::new();
    for start in 0..nodes as u32 {
        if number[start as usize] != 0 {
            continue;
        }
        calls.push((start, 0));
        while let Some((v, k)) = calls.last_mut() {
            let v = *v as usize;
            if *k == 0 {
                counter += 1;
                number[v] = counter;
                low[v] = counter;
                stack.push(v as u32);
            }
            let successors = next(v as u32);
            if let Some(&w) = successors.get(*k) {
                *k += 1;
                if number[w as usize] == 0 {
                    calls.push((w, 0));
                } else if !placed[w as usize] {
                    low[v] = low[v].min(number[w as usize]);
                }
                continue;
            }
            // A node without successors must not be entered again.
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent as usize] = low[*parent as usize].min(low[v]);
            }
            if low[v] == number[v] {
                let mut component = Vec::new();
                while let Some(w) = stack.pop() {
                    placed[w as usize] = true;
                    component.push(w);
                    if w as usize == v {
                        break;
                    }
                }
                component.sort_unstable();
                components.push(component);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::strong_components;

    #[test]
    fn groups_cycles_and_orders_them() {
        let edges: Vec<Vec<u32>> = vec![vec![1], vec![2, 3], vec![0], vec![4], vec![], vec![5, 4]];
        let found = strong_components(6, |v| &edges[v as usize]);
        assert_eq!(found, [vec![4], vec![3], vec![0, 1, 2], vec![5]]);
    }
}
