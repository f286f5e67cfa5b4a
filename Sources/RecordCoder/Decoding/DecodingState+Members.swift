extension Token {
    /// Whether the token is the name of an object's member.
    @inline(__always)
    fileprivate func isName(in object: Int) -> Bool { kind == .name && Int(next) == object }
}

extension DecodingState {

    /// Finds the value of an object's member. If several members have the same name, the first one counts.
    ///
    /// Types usually decode members in the order written, so the search starts at the name after the last one found.
    ///
    /// - Parameters:
    ///   - name: The member's name.
    ///   - object: The object's token.
    ///   - advances: Whether the next search starts after this member instead of at it.
    /// - Returns: The value's token, or `nil` if there is no such member.
    @inline(__always)
    func member(_ name: String, of object: Int, advances: Bool) -> Int? {
        let token = fields.pointee.tape[object]
        if token.isIrregular { return irregularMember(name, of: object) }
        var name = name
        let found: Int? = name.withUTF8 { name in
            // In bounds: the object's names follow its token, each followed by its value, and the last value ends
            // before `next`. The expected name is one of them or the end.
            let expected = Int(token.start)
            if expected < Int(token.next), isName(expected, name) { return expected }
            if let found = hashedName(name, of: object, end: Int(token.next)) { return found }
            return search(name, in: object)
        }
        guard let found else { return name.utf8.allSatisfy { $0 < 0x80 } ? nil : irregularMember(name, of: object) }
        if advances { fields.pointee.tape.tokens[object].start = fields.pointee.tape[found + 1].next }
        return found + 1
    }

    /// The token of a name, if the table of hashes has it.
    @inline(__always)
    private func hashedName(_ name: UnsafeBufferPointer<UInt8>, of object: Int, end: Int) -> Int? {
        guard let address = name.baseAddress else { return nil }
        // In bounds: the table has that many slots. A slot may hold a token of an earlier text.
        let found = Int(fields.pointee.tape.names[NameHash(address, name.count).place(in: object)])
        guard found > object, found < end, fields.pointee.tape[found].isName(in: object), isName(found, name) else {
            return nil
        }
        return found
    }

    /// Whether the text of a name equals another.
    @inline(__always)
    private func isName(_ index: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let token = fields.pointee.tape[index]
        guard Int(token.count) == name.count, let address = name.baseAddress else {
            return token.count == 0 && name.isEmpty
        }
        return areEqual(text(of: token), address, count: name.count)
    }

    @inline(never)
    private func search(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int? {
        let end = Int(fields.pointee.tape[object].next)
        var index = object + 1
        while index < end {
            if isName(index, name) { return index }
            index = Int(fields.pointee.tape[index + 1].next)
        }
        return nil
    }

    // MARK: Names that can't be compared byte by byte

    @inline(never)
    private func irregularMember(_ name: String, of object: Int) -> Int? {
        members(of: object)[name]
    }

    /// The values of an object's members by name. If several members have the same name, the first one counts.
    private func members(of object: Int) -> [String: Int] {
        if let known = fields.pointee.members[object] { return known }
        return findMembers(of: object).members
    }

    /// Finds the members of an object by name, and their names in the order of the text.
    private func findMembers(of object: Int) -> (members: [String: Int], names: [String]) {
        var (members, names): ([String: Int], [String]) = ([:], [])
        let count = Int(fields.pointee.tape[object].count)
        members.reserveCapacity(count)
        names.reserveCapacity(count)
        forEachMember(of: object) { name, value in
            let name = string(of: fields.pointee.tape[name])
            if let first = members.updateValue(value, forKey: name) {
                members[name] = first
            } else {
                names.append(name)
            }
        }
        fields.pointee.members[object] = members
        return (members, names)
    }

    /// The names of an object's members without duplicates, in the order of the text.
    func names(of object: Int) -> [String] {
        if fields.pointee.tape[object].isIrregular { return findMembers(of: object).names }
        var names: [String] = []
        names.reserveCapacity(Int(fields.pointee.tape[object].count))
        forEachMember(of: object) { name, _ in names.append(string(of: fields.pointee.tape[name])) }
        return names
    }

    /// Calls a closure with the tokens of each member's name and value.
    @inline(__always)
    func forEachMember(of object: Int, _ body: (_ name: Int, _ value: Int) throws -> Void) rethrows {
        let end = Int(fields.pointee.tape[object].next)
        var index = object + 1
        while index < end {
            try body(index, index + 1)
            index = Int(fields.pointee.tape[index + 1].next)
        }
    }

    /// Calls a closure with the token of each element.
    @inline(__always)
    func forEachElement(of array: Int, _ body: (Int) throws -> Void) rethrows {
        let end = Int(fields.pointee.tape[array].next)
        var index = array + 1
        while index < end {
            try body(index)
            index = Int(fields.pointee.tape[index].next)
        }
    }
}
