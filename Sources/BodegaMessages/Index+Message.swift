package import Bodega
package import RecordCoder

extension StorageIndex.Member: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("path", path)
        if !isForText { object.add("text", false) }
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["path", "text"])
        self.init(try members.required("path").path(), isForText: try members["text"]?.bool() ?? true)
    }
}

extension StorageIndex: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        if let searchForm {
            object.add("search", members.map(\.path))
            object.add("form", searchForm.rawValue)
        } else {
            object.add("members", members)
            if !constants.isEmpty { object.add("constants", constants) }
        }
    }

    package init(_ part: JSONPart) throws {
        let fields = try part.members()
        if let paths = fields["search"] {
            try fields.check(names: ["search", "form"])
            let list = try paths.elements().map { try $0.path() }
            guard !list.isEmpty, let form = SearchForm(rawValue: try fields.string("form") ?? "words") else {
                throw part.error("an index for searches")
            }
            self = .search(list, form: form)
        } else {
            try fields.check(names: ["members", "constants"])
            let members: [Member] = try fields.required("members").list()
            let constants: [StorageSortKey] = try fields.list("constants")
            guard members.count > constants.count else { throw part.error("an index with a member in order") }
            // The members of the condition come first, in the order in which they were added.
            let ordered = Array(members[constants.count...])
            var index = StorageIndex(ordered[0], Array(ordered.dropFirst()))
            for (member, constant) in zip(members, constants) {
                index = index.where(member.path, equals: constant, isForText: member.isForText)
            }
            self = index
        }
    }
}

extension StorageReference: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        object.add("path", path)
        if isList { object.add("list", true) }
        object.add("target", target)
        object.add("targetPath", targetPath)
        object.add("onRemoval", onRemoval.rawValue)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["path", "list", "target", "targetPath", "onRemoval"])
        guard let removal = Removal(rawValue: try members.required("onRemoval").string()) else {
            throw part.error("a reference with a known rule for removals")
        }
        self.init(
            try members.required("path").path(), isList: try members.bool("list"),
            to: try members.required("target").string(), targetPath: try members["targetPath"]?.path() ?? "id",
            onRemoval: removal)
    }
}
