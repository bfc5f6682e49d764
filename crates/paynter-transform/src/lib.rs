//! Bond graphs made from bond graphs. A derived graph is again a graph and
//! runs through the same passes as one that a person wrote.
