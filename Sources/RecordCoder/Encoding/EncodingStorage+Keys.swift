extension EncodingStorage {
    /// The largest capacity of a set that is kept for reuse.
    private static let keptKeyCount = 1000

    /// The result of writing a key.
    enum KeyResult {
        /// The key is written, and its value can be.
        case written
        /// The key is unknown, and the frame is ready for it.
        case unknown
        /// The record falls back to Foundation.
        case refused
    }

    /// Writes the key of an object's next member, if the object's table has it.
    ///
    /// The record falls back to Foundation if the object has the key already, or if the last key still has no value.
    @inline(__always)
    mutating func writeKnownKey(_ text: String, depth: Int, start: Int) -> KeyResult {
        guard select(depth: depth, start: start) else { return .refused }
        // In bounds: `select` made the frame the innermost one.
        let frame = frames + depth
        guard let table = frame.pointee.table else { return .unknown }
        guard let place = table.pointee.place(of: text, expectedAt: frame.pointee.position) else { return .unknown }
        return writeKey(at: place, of: table, frame: frame) ? .written : .refused
    }

    /// Writes a key that is not in the object's table, and adds it to the table if possible.
    ///
    /// - Parameters:
    ///   - text: The key's string.
    ///   - key: The key itself, if it holds no references.
    ///   - depth: The depth of the object's frame, which is the innermost one.
    /// - Returns: Whether the key was written; if not, the record falls back to Foundation.
    @inline(never)
    mutating func writeUnknownKey(_ text: String, key: (any CodingKey)?, depth: Int) -> Bool {
        // In bounds: the frame is the innermost one.
        let frame = frames + depth
        if let table = frame.pointee.table {
            if let place = table.pointee.add(text, key: key) { return writeKey(at: place, of: table, frame: frame) }
            moveKeysIntoSet(frame)
        } else if frame.pointee.keySet < 0 {
            moveKeysIntoSet(frame)
        }
        // In bounds: `moveKeysIntoSet` made the set.
        guard keySets[frame.pointee.keySet].insert(text).inserted, appendComma() else {
            giveUp()
            return false
        }
        output.append(text)
        output.append(UInt8(ascii: ":"))
        return true
    }

    /// Writes the key of a dictionary's next entry. A dictionary's keys are all different.
    ///
    /// - Parameters:
    ///   - text: The key.
    ///   - depth: The depth of the dictionary's frame, which is the innermost one.
    @inline(__always)
    mutating func writeDictionaryKey(_ text: String, depth: Int) {
        if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        // In bounds: the frame is the innermost one.
        frames[depth].dictionaryKey = output.count
        output.append(text)
        output.append(UInt8(ascii: ":"))
    }

    /// Writes a key of a table, with a comma unless it is the first member.
    @inline(__always)
    private mutating func writeKey(
        at place: Int, of table: UnsafeMutablePointer<KeyTable>, frame: UnsafeMutablePointer<EncodingFrame>
    ) -> Bool {
        let bit = 1 as UInt64 &<< UInt64(truncatingIfNeeded: place)
        let last = output.last
        guard frame.pointee.used & bit == 0, last != UInt8(ascii: ":") else {
            giveUp()
            return false
        }
        frame.pointee.used |= bit
        frame.pointee.position = place &+ 1
        let entry = table.pointee[place]
        // Skip the comma before the first member.
        let skipped = last == UInt8(ascii: "{") ? 1 : 0
        let length = entry.pointee.length &- skipped
        output.reserve(length)
        let (source, target) = (entry.pointee.json + skipped, output.end)
        var index = 0
        // In bounds: each word starts before `length`, so fewer than eight bytes of the last one are past it. They are
        // readable as padding after the JSON, and writable as slack after the reserved bytes.
        repeat {
            (target + index).storeBytes(of: (source + index).loadUnaligned(as: UInt64.self), as: UInt64.self)
            index &+= 8
        } while index < length
        output.advance(by: length)
        return true
    }

    /// Appends a comma unless a member would be the first one.
    ///
    /// - Returns: `false` if the last member still has no value.
    private mutating func appendComma() -> Bool {
        let last = output.last
        if last == UInt8(ascii: ":") { return false }
        if last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        return true
    }

    /// Moves an object's keys from a table that can't hold them into a set.
    private mutating func moveKeysIntoSet(_ frame: UnsafeMutablePointer<EncodingFrame>) {
        if keySetCount == keySets.count {
            keySets.append([])
        } else if keySets[keySetCount].capacity > Self.keptKeyCount {
            // Emptying a set takes time proportional to its capacity.
            keySets[keySetCount] = []
        } else {
            keySets[keySetCount].removeAll(keepingCapacity: true)
        }
        if let table = frame.pointee.table {
            // In bounds: bits are set for places in the table only.
            for place in 0..<table.pointee.count where frame.pointee.used & (1 &<< UInt64(place)) != 0 {
                keySets[keySetCount].insert(table.pointee.names[place].text)
            }
        }
        frame.pointee.table = nil
        frame.pointee.keySet = keySetCount
        keySetCount += 1
    }
}
