/// Where a token is.
struct TokenPlace {
    /// The array or object that it is in; 0 if it is in none.
    var container: UInt32 = 0
    /// Which element of the array it is.
    var element: UInt32 = 0
    /// The name of the member of which it is the value.
    var name: UInt32 = 0
}

extension DecodingState {

    /// The coding path of a value.
    ///
    /// Decoding doesn't keep track of it; it is found when it is asked for, in time that depends on the depth.
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
                // Many values below may ask for it, and it may be long.
                fields.pointee.keys[index] = key
                path.append(key)
            }
            index = container
        }
        return path.reversed()
    }

    /// Finds the places of all values, so that asking for many paths takes no longer than it must.
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
