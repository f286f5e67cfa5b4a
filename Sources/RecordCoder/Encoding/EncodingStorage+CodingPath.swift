import Foundation

extension EncodingStorage {
    /// The coding path of a value, derived from the output so far.
    ///
    /// Foundation's paths consist of the keys that the values' types passed. The record falls back to Foundation if
    /// those keys were not kept, if the place is no longer distinguishable from the one after it, and within nested
    /// containers, for which Foundation has rules of its own.
    ///
    /// - Parameters:
    ///   - depth: The number of enclosing frames.
    ///   - start: The offset at which the value starts.
    mutating func codingPath(depth: Int, start: Int) -> [any CodingKey] {
        guard isVacant(depth: depth, start: start) || isOpen(depth: depth, start: start) else {
            giveUp()
            return []
        }
        var path: [any CodingKey] = []
        for level in 0..<depth {
            // In bounds: level < depth <= frameCount.
            let frame = frames[level]
            guard !frame.isNested, let key = lastKey(of: frame) else {
                giveUp()
                return []
            }
            path.append(key)
        }
        return path
    }

    /// Marks a frame as begun by a container, if it is open.
    func markNested(depth: Int, start: Int) {
        // In bounds: the frame is open.
        if isOpen(depth: depth, start: start) { frames[depth].isNested = true }
    }

    /// The key of the member or element that was begun last.
    private mutating func lastKey(of frame: EncodingFrame) -> (any CodingKey)? {
        if frame.kind == .array { return PathKey(index: frame.position - 1) }
        // In bounds: the position is the one after the last key, which is in the table.
        if let table = frame.table, frame.position > 0 { return table.pointee.names[frame.position - 1].key }
        return frame.dictionaryKey < 0 ? nil : dictionaryKey(at: frame.dictionaryKey)
    }

    /// Reads a dictionary's key. As with Foundation, it has a number if the text is one.
    private mutating func dictionaryKey(at offset: Int) -> PathKey? {
        if let known = dictionaryKeys[offset] { return known }
        // In bounds: the key's offset is within the output, and the key ends with the next unescaped quotation mark.
        let bytes = UnsafeRawBufferPointer(start: output.base + offset, count: output.count - offset)
        var end = 1
        while bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        do {
            let text = try RecordDecoder().decode(String.self, from: Data(bytes[...end]))
            let key = PathKey(stringValue: text, intValue: Int(text))
            dictionaryKeys[offset] = key
            return key
        } catch {
            // Cannot happen, because the key was written as a string. If it does, the record falls back to Foundation.
            return nil
        }
    }
}

extension PathKey {
    /// The key of a dictionary's entry.
    fileprivate init(stringValue: String, intValue: Int?) {
        self.stringValue = stringValue
        self.intValue = intValue
    }
}
