extension DecodingState {

    /// Finds the value of an object's member. Of several with the same name, it is the first one's.
    ///
    /// Members are mostly asked for in the order in which they were written, so the name behind the one that was found last
    /// is looked at first.
    ///
    /// - Parameters:
    ///   - name: The member's name.
    ///   - object: The object's token.
    ///   - advances: Whether the next member is expected to be asked for next, instead of this one.
    /// - Returns: The value's token, or `nil`.
    @inline(__always)
    func member(_ name: String, of object: Int, advances: Bool) -> Int? {
        let token = fields.pointee.tape[object]
        if token.isIrregular { return irregularMember(name, of: object) }
        var name = name
        let found: Int? = name.withUTF8 { name in
            // The object's names begin behind its token, each is followed by its value, and before `next` ends the last
            // value. The expected name is one of them or the end.
            let expected = Int(token.start)
            if expected < Int(token.next), isName(expected, name) { return expected }
            return search(name, in: object)
        }
        guard let found else { return name.utf8.allSatisfy { $0 < 0x80 } ? nil : irregularMember(name, of: object) }
        if advances { fields.pointee.tape.tokens[object].start = fields.pointee.tape[found + 1].next }
        return found + 1
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

    /// The values of an object's members by name; of several with the same name, the first one's.
    private func members(of object: Int) -> [String: Int] {
        if let known = fields.pointee.members[object] { return known }
        var members: [String: Int] = [:]
        members.reserveCapacity(Int(fields.pointee.tape[object].count))
        forEachMember(of: object) { name, value in
            let name = string(of: fields.pointee.tape[name])
            if members[name] == nil { members[name] = value }
        }
        fields.pointee.members[object] = members
        return members
    }

    /// The names of an object's members, each once, in the order of the text.
    func names(of object: Int) -> [String] {
        var names: [String] = []
        let isIrregular = fields.pointee.tape[object].isIrregular
        forEachMember(of: object) { name, value in
            let name = string(of: fields.pointee.tape[name])
            if !isIrregular || irregularMember(name, of: object) == value { names.append(name) }
        }
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
}

/// Whether two texts of the same length are equal. All reads are of bytes from 0 to `count`.
@inline(__always)
private func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
    let left = UnsafeRawPointer(left)
    let right = UnsafeRawPointer(right)
    if count >= 8 {
        var index = 0
        while index &+ 8 <= count {
            if load8(left + index) != load8(right + index) { return false }
            index &+= 8
        }
        // The last eight bytes, of which some may have been compared already.
        return load8(left + (count &- 8)) == load8(right + (count &- 8))
    }
    if count >= 4 {
        return load4(left) == load4(right) && load4(left + (count &- 4)) == load4(right + (count &- 4))
    }
    for index in 0..<count
    where left.load(fromByteOffset: index, as: UInt8.self) != right.load(fromByteOffset: index, as: UInt8.self) {
        return false
    }
    return true
}

@inline(__always)
private func load8(_ address: UnsafeRawPointer) -> UInt64 { address.loadUnaligned(as: UInt64.self) }

@inline(__always)
private func load4(_ address: UnsafeRawPointer) -> UInt32 { address.loadUnaligned(as: UInt32.self) }
