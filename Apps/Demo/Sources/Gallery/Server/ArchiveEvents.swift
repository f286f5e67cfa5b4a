import AsyncAlgorithms
import Bodega
import Boutique
import Foundation

/// The events of a page of the archive: the changes of its window, each with its place, and the summary.
///
/// 1. ``sendRows()`` waits until the archive is filled, and opens a window.
/// 2. It sends the identifier of the window, by which the page requests more pictures, and then the window's events.
/// 3. Each change of the archive, which may not concern the window, posts to the mailbox.
/// 4. For all pending posts, ``sendSummary()`` counts the matches once.
///
/// The window is released when the task is cancelled, because the browser has gone.
struct ArchiveEvents: Sendable {
    let search: ArchiveSearch
    let archive: ArchiveController
    let templates: Templates
    let mailbox: Mailbox
    /// The text for the browser.
    let parts: AsyncChannel<String>

    /// The number of pictures on the page.
    private let shown = Shown()

    init(
        search: ArchiveSearch, archive: ArchiveController, templates: Templates, mailbox: Mailbox,
        parts: AsyncChannel<String>
    ) {
        (self.search, self.archive, self.templates) = (search, archive, templates)
        (self.mailbox, self.parts) = (mailbox, parts)
    }

    @MainActor
    private final class Shown {
        var count = 0
        nonisolated init() {}
    }

    // MARK: Rows

    /// Sends the events of a window until the task is cancelled.
    @MainActor
    func sendRows() async {
        await archive.open()
        for await _ in archive.progress.events {
            mailbox.post(.archive)
            if case .filled = archive.state { break }
        }
        if Task.isCancelled { return }
        await archive.withWindow(search) { id, window in
            await send("window", ["id": id])
            do {
                // Otherwise the first snapshot would be empty.
                try await window.itemsHaveLoaded()
            } catch {
                // The window tries again, and the summary shows the error.
            }
            await withTaskGroup { group in
                group.addTask { await forwardChanges() }
                for await event in window.events {
                    await send(event)
                    shown.count = window.items.count
                    mailbox.post(.archive)
                }
                group.cancelAll()
            }
        }
    }

    /// Posts all changes of the archive, including those of other programs.
    private func forwardChanges() async {
        for await _ in await archive.changes { mailbox.post(.archive) }
    }

    private func send(_ event: LiveQueryEvent<ArchivePicture>) async {
        switch event {
        case .loaded(let pictures): await send("rows", Row(kind: "loaded", html: pictures.map(html).joined()))
        case .inserted(let picture, let index):
            await send("rows", Row(kind: "inserted", html: html(picture), at: index))
        case .updated(let picture, let index): await send("rows", Row(kind: "updated", html: html(picture), at: index))
        case .moved(let picture, let source, let target):
            await send("rows", Row(kind: "moved", html: html(picture), from: source, at: target))
        case .removed(_, let index): await send("rows", Row(kind: "removed", at: index))
        }
    }

    /// A change of the rows, for the page's script.
    private struct Row: Encodable {
        let kind: String
        var html: String?
        var from: Int?
        var at: Int?
    }

    private func html(_ picture: ArchivePicture) -> String {
        templates.render(ArchiveCard(picture, foundBy: search.expression))
    }

    // MARK: The summary

    /// Sends the summary of the search.
    func sendSummary() async {
        let (summary, more) = templates.render(await summary())
        await send("summary", ["summary": summary, "more": more])
    }

    private func summary() async -> ArchiveSummary {
        guard case .filled = await archive.state else { return await ArchiveSummary(filling: archive) }
        do {
            let count = try await archive.pictures.count(search.query, omittingUndecodable: true)
            return ArchiveSummary(search, count: count, shown: await shown.count)
        } catch {
            return ArchiveSummary(failure: (error as? StorageError)?.message ?? "\(error)")
        }
    }

    private func send(_ name: String, _ value: some Encodable) async {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // JSON has no line ends, which would end the event.
            let json = String(decoding: try encoder.encode(value), as: UTF8.self)
            await parts.send("event: \(name)\ndata: \(json)\n\n")
        } catch {
            preconditionFailure("Texts and numbers can be encoded: \(error)")
        }
    }
}
