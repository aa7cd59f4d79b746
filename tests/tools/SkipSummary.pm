# SkipSummary.pm - what `prove --harness SkipSummary` adds to the summary: how many tests were skipped, by reason, and
# what the failed ones printed.
#
# A machine without a terminal, a browser or CUDA skips what needs one, and prove alone does not say why.  What a failed
# test printed is thousands of lines above prove's summary, and a service that runs the tests may keep only the end.
# Perl finds this file by PERL5LIB; prove's own -I is for the tests.
package SkipSummary;
use strict;
use warnings;
use parent 'TAP::Harness';

use constant LINES_OF_A_TEST => 10;
use constant LINES_OF_ALL    => 60;

# Count each skipped test, and each file that was skipped as a whole; keep the comments that follow a failed test.
sub make_parser {
	my ($self, $job) = @_;
	my ($parser, $session) = $self->SUPER::make_parser($job);
	my $failed;

	$parser->callback(test => sub {
		my ($result) = @_;

		$self->_count('test', $result) if $result->has_skip;
		$failed = $result->is_ok ? undef : [$job->description . ': ' . $result->as_string];
		push @{$self->{failed}}, $failed if $failed;
	});
	$parser->callback(comment => sub { push @$failed, '  ' . $_[0]->as_string if $failed && @$failed <= LINES_OF_A_TEST });
	$parser->callback(plan => sub { $self->_count('file', $_[0]) if $_[0]->has_skip });
	return ($parser, $session);
}

sub _count {
	my ($self, $kind, $result) = @_;
	my $reason = $result->explanation // '';

	$reason =~ s/^\s+|\s+$//g;
	$self->{skipped}{$reason || 'no reason given'}{$kind}++;
}

sub _number {
	my ($count, $what) = @_;

	return $count ? ("$count $what" . ($count == 1 ? '' : 's')) : ();
}

# Print the reasons before prove's own summary, which stays last; most skipped tests first, files after tests.
sub summary {
	my ($self, @arguments) = @_;
	my $skipped = $self->{skipped} // {};
	my @rows;

	for my $reason (sort keys %$skipped) {
		my ($tests, $files) = map { $skipped->{$reason}{$_} // 0 } qw(test file);
		push @rows, [$tests, $files, join(', ', _number($tests, 'test'), _number($files, 'file')), $reason];
	}
	if (@rows) {
		@rows = sort { $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1] } @rows;
		my ($width) = sort { $b <=> $a } map { length $_->[2] } @rows;
		print "Skipped:\n";
		printf "  %-*s  %s\n", $width, @$_[2, 3] for @rows;
	}
	if (my @lines = map { @$_ } @{$self->{failed} // []}) {
		my $left = @lines - LINES_OF_ALL;

		splice @lines, LINES_OF_ALL if $left > 0;
		print "Failed:\n", map { "  $_\n" } @lines;
		print "  and $left more lines\n" if $left > 0;
	}
	return $self->SUPER::summary(@arguments);
}

1;
