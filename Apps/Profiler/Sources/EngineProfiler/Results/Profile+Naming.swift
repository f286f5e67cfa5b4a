extension Profile {

    /// Renames engines that have the same name in several results, by the names of the results.
    ///
    /// - Parameters:
    ///   - profiles: The results.
    ///   - names: The names of the results.
    static func disambiguate(_ profiles: inout [Profile], names: [String]) {
        var counts: [String: Int] = [:]
        for engine in profiles.flatMap(\.engines) { counts[engine.name, default: 0] += 1 }
        for index in profiles.indices {
            let isNameUnique = names.filter { $0 == names[index] }.count == 1
            let suffix = isNameUnique ? names[index] : "\(names[index]) \(index + 1)"
            for engine in profiles[index].engines.indices {
                let name = profiles[index].engines[engine].name
                if counts[name, default: 0] > 1 { profiles[index].engines[engine].name = "\(name) (\(suffix))" }
            }
        }
    }
}
