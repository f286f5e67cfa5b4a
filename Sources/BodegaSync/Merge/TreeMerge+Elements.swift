extension TreeMerge {
    /// Writes an array as a program has changed it, with what the program does not know.
    mutating func mergeElements(_ nodes: Versions<MergeNode?>) {
        let known = nodes.base?.elements ?? []
        let new = nodes.local?.elements ?? []
        let stored = nodes.remote?.elements ?? []
        guard let counterparts = ElementPairs.counterparts(of: known, in: stored) else {
            write(.take(.local), nodes)
            return
        }
        let origins = ElementPairs.origins(of: new, in: known, id: id)
        // The elements that the program does not know, by the stored element before them; -1 at the start.
        let isKnown = Set(counterparts)
        var unknown: [Int: [MergeNode]] = [:]
        var previous = -1
        let survivors = Set(origins.compactMap { $0.map { counterparts[$0] } })
        for (index, element) in stored.enumerated() {
            if survivors.contains(index) { previous = index }
            if !isKnown.contains(index) { unknown[previous, default: []].append(element) }
        }
        let start = output.count
        output.append(UInt8(ascii: "["))
        func separate(_ output: inout [UInt8]) {
            if output.count > start + 1 { output.append(UInt8(ascii: ",")) }
        }
        func writeUnknown(after index: Int, _ merge: inout TreeMerge) {
            for element in unknown[index] ?? [] {
                separate(&merge.output)
                merge.output += merge.bytes(.remote)[element.range]
            }
        }
        writeUnknown(after: -1, &self)
        for (element, origin) in zip(new, origins) {
            separate(&output)
            let counterpart = origin.map { counterparts[$0] }
            let elements = Versions(
                base: origin.map { known[$0] }, local: element, remote: counterpart.map { stored[$0] })
            write(decide(elements), elements)
            if let counterpart { writeUnknown(after: counterpart, &self) }
        }
        output.append(UInt8(ascii: "]"))
    }
}
