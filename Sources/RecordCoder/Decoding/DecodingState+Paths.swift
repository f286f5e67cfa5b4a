/// The position of a token in the tree of values.
struct TokenPlace {
    /// The enclosing array or object; 0 at the top level.
    var container: UInt32 = 0
    var element: UInt32 = 0
    /// The token of the member's name in the enclosing object.
    var name: UInt32 = 0
}

extension DecodingState {

    /// The coding path of a value.
    ///
    /// Decoding doesn't track paths. A path is computed on demand, in time proportional to the depth.
    @inline(never)
    func path(to index: Int) -> [any CodingKey] {
        if fields.pointee.places.isEmpty { findPlaces() }
        var path: [any CodingKey] = []
        var index = index
        while true {
            let place = fields.pointee.places[index]
            let container = Int(place.container)
            if container == 0 { break }
            if let key = fields.pointee.keys[index] {
                path.append(key)
            } else if fields.pointee.tape[container].kind == .array {
                path.append(PathKey(index: Int(place.element)))
            } else {
                let key = PathKey(stringValue: string(of: fields.pointee.tape[Int(place.name)]))
                // Many nested values may request it, and it may be long.
                fields.pointee.keys[index] = key
                path.append(key)
            }
            index = container
        }
        return path.reversed()
    }

    /// Finds the positions of all values once, so that each further path is cheap.
    private func findPlaces() {
        let tape = fields.pointee.tape
        var places = [TokenPlace](repeating: TokenPlace(), count: tape.tokenCount)
        for container in Tape.root..<tape.tokenCount {
            let token = tape[container]
            if token.kind == .object {
                forEachMember(of: container) { name, value in
                    places[value] = TokenPlace(
                        container: UInt32(truncatingIfNeeded: container),
                        name: UInt32(truncatingIfNeeded: name)
                    )
                }
            } else if token.kind == .array {
                var index = container + 1
                for element in 0..<token.count {
                    places[index] = TokenPlace(container: UInt32(truncatingIfNeeded: container), element: element)
                    index = Int(tape[index].next)
                }
            }
        }
        fields.pointee.places = places
    }
}
