"""A scrape of /metrics, parsed by the parser of Prometheus' own client library."""

from prometheus_client.parser import text_string_to_metric_families


class Metrics:
    def __init__(self, text):
        self.text = text
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self._samples = [
            sample for family in self.families.values() for sample in family.samples
        ]

    def samples(self, name, **labels):
        """All samples of that full name (with _total, _count, ...) that have these labels."""
        return [
            sample
            for sample in self._samples
            if sample.name == name
            and all(sample.labels.get(label) == value for label, value in labels.items())
        ]

    def value(self, name, **labels):
        """The one value that these labels select, None if there is none."""
        found = self.samples(name, **labels)
        assert len(found) <= 1, f"{name}{labels} selects {len(found)} series"
        return found[0].value if found else None

    def sum(self, name, **labels):
        return sum(sample.value for sample in self.samples(name, **labels))
