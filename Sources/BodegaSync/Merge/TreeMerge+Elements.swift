extension TreeMerge {
    /// The elements of an array as a program has changed it, and those that the program does not know.
    ///
    /// - Returns: `nil` if it is not clear what the program knows.
    static func elements(of nodes: Versions<MergeNode?>) -> [Part]? {
        let known = nodes.base?.elements ?? []
        let new = nodes.local?.elements ?? []
        let stored = nodes.remote?.elements ?? []
        guard let counterparts = ElementPairs.counterparts(of: known, in: stored) else { return nil }
        let origins = ElementPairs.origins(of: new, in: known)
        let survivors = Set(origins.compactMap { $0.map { counterparts[$0] } })
        let unknown = unknown(in: stored, except: Set(counterparts), after: survivors)
        var result = unknown[-1] ?? []
        for (element, origin) in zip(new, origins) {
            guard let origin else {
                result.append(Part(nodes: Versions(base: nil, local: element, remote: nil)))
                continue
            }
            let counterpart = counterparts[origin]
            result.append(Part(nodes: Versions(base: known[origin], local: element, remote: stored[counterpart])))
            result += unknown[counterpart] ?? []
        }
        return result
    }

    /// The elements that a program does not know, by the closest element before them that remains; -1 at the start.
    private static func unknown(
        in stored: [MergeNode], except known: Set<Int>, after survivors: Set<Int>
    ) -> [Int: [Part]] {
        var previous = -1
        var unknown: [Int: [Part]] = [:]
        for (index, element) in stored.enumerated() {
            if survivors.contains(index) { previous = index }
            if !known.contains(index) {
                unknown[previous, default: []].append(Part(nodes: Versions(base: nil, local: nil, remote: element)))
            }
        }
        return unknown
    }
}
